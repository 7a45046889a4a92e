/** Reads the words of a command for the options of its program. */
import type { ProgramRule, Takes } from "./programs.ts";
import type { Quotes } from "./quotes.ts";
import type { Span } from "./spans.ts";
import { isSecretValue, MARK } from "./values.ts";

/** The most characters of a command that are read. */
const COMMAND_LENGTH = 16_384;
/** The place of a secret that is not in the next word, as seen from the next word. */
const BEHIND = new Map<Takes, Takes>([
  ["third", "second"],
  ["second", "word"],
  ["named", "word"],
]);
/** A name that is more than a word of a sentence. */
const NAME = /[A-Z_./:\d]/;
/** The text after the name of a program in a list. */
const LISTED = /^["']\s{0,4},/;
const NEXT_LISTED = /["']?\s{0,4},\s{0,4}["']/y;
/** A redirection: the next word is a file. A here-string is not one. */
const FILE_BEFORE = /(?<!<)(?:<|>{1,2})\s{0,4}$/;
const AROUND = /^["']|["']$/g;
const ENDS_COMMAND = /[;|&)\n]/;
const ENDS_WORD = /[\s;|&()<>]/;

/**
 * Finds the secrets in the options of a program, up to the end of the command.
 *
 * @param from the end of the program's name
 * @returns the secrets, and the end of the text that was read
 */
export function secretsOfProgram(
  text: string,
  from: number,
  { options, after, isWrapper, hasAssignments }: ProgramRule,
  quotes: Quotes,
): { readonly secrets: readonly Span[]; readonly end: number } {
  const flags = Object.entries(options);
  const before = after === undefined ? undefined : wholeWord(after);
  const secrets: Span[] = [];
  // The name and each argument are quoted in a list, as in `["mysql", "-phunter2"]`.
  const isList = LISTED.test(text.slice(from, from + 8));
  const around = isList ? undefined : quotes.around(from - 1);
  const limit = Math.min(from + COMMAND_LENGTH, around?.close ?? text.length);
  // In quotes, the quotes of the command are read one by one: what they are is exact only without the layer around.
  const own = around ? undefined : quotes;
  let isOpen = before === undefined;
  let waiting: Takes | undefined;
  let end = from;
  for (;;) {
    const word = isList ? nextListed(text, end, limit) : nextWord(text, end, limit, own);
    // A word that is cut by the limit could be the beginning of a mark, which is not a secret.
    if (word === undefined || word.end === from + COMMAND_LENGTH) return { secrets, end };
    end = word.end;
    if (FILE_BEFORE.test(text.slice(Math.max(from, word.start - 8), word.start))) continue;
    const quote = text[word.start] ?? "";
    const isQuoted = /["']/.test(quote) && text[word.start + 1] === "-";
    const start = isQuoted ? word.start + 1 : word.start;
    const isClosed = isQuoted && text[word.end - 1] === quote;
    const said = text.slice(start, isClosed ? word.end - 1 : word.end);
    const behind = waiting && !said.startsWith("-") ? BEHIND.get(waiting) : undefined;
    if (behind !== undefined && hasAssignments && said.includes("=")) waiting = undefined;
    else if (behind !== undefined) {
      waiting = waiting === "named" && !NAME.test(said) ? undefined : behind;
      continue;
    }
    if (waiting !== undefined && !said.startsWith("-")) {
      secrets.push(...secretIn(text, word, waiting, own));
      waiting = undefined;
      continue;
    }
    waiting = undefined;
    if (isWrapper && !said.startsWith("-")) return { secrets, end };
    if (before?.test(said.replace(AROUND, ""))) isOpen = true;
    if (!isOpen) continue;
    if (hasAssignments && !said.startsWith("-")) secrets.push(...secretIn(text, word, "=", own));
    for (const [flag, takes] of flags) {
      const rest = restOf(said, flag, takes);
      if (rest === undefined) continue;
      if (rest < said.length) {
        secrets.push(...secretIn(text, { start: start + rest, end: word.end }, takes, own));
      } else if (takes !== "rest") waiting = takes;
      break;
    }
  }
}

const wholeWords = new Map<string, RegExp>();

/** A pattern for whole words. It is compiled once: compiling takes longer than reading a command. */
function wholeWord(pattern: string): RegExp {
  const known = wholeWords.get(pattern);
  if (known) return known;
  const compiled = new RegExp(`^(?:${pattern})$`);
  wholeWords.set(pattern, compiled);
  return compiled;
}

/** The offset of an option's value in its word; `undefined` if the word is not that option. */
function restOf(word: string, flag: string, takes: Takes): number | undefined {
  // Short options may be joined: `-su` is `-s -u`.
  const isJoined =
    flag.length === 2 && /^-[A-Za-z]{2,8}$/.test(word) && word.endsWith(flag.slice(1));
  if (isJoined && (takes === ":" || (takes === "word" && !word.startsWith(flag))))
    return word.length;
  if (!word.startsWith(flag)) return undefined;
  if (word.length === flag.length) return flag.length;
  if (takes === "next") return undefined;
  if (word[flag.length] === "=") return flag.length + 1;
  // The value of a short option may be joined to it, but neither that of a long one nor that of a subcommand.
  return flag.startsWith("--") || /^\w/.test(flag) ? undefined : flag.length;
}

/** The secret in the value of an option, without its quotes. */
function secretIn(text: string, value: Span, takes: Takes, quotes?: Quotes): readonly Span[] {
  const whole = quotes ? value : firstPart(text, value);
  let { start } = whole;
  if (!["word", "next", "rest", "second"].includes(takes)) {
    const withoutMarks = text.slice(start, whole.end).replaceAll(MARK, " ".repeat(MARK.length));
    const separator = withoutMarks.indexOf(takes);
    if (separator === -1) return [];
    start += separator + 1;
  }
  const secret = quotes
    ? withoutQuotes({ start, end: whole.end }, quotes)
    : { start, end: whole.end };
  const said = text.slice(secret.start, secret.end).replace(/["']/g, "");
  return said !== "" && !said.includes(MARK) && isSecretValue(said) ? [secret] : [];
}

/** A value's text in quotes, or its text before the first quote. */
function firstPart(text: string, { start, end }: Span): Span {
  const quote = text[start];
  const isQuoted = quote === '"' || quote === "'";
  const from = isQuoted ? start + 1 : start;
  let to = from;
  while (to < end && (isQuoted ? text[to] !== quote : !/["']/.test(text[to] ?? ""))) to++;
  return { start: from, end: to };
}

/** A value without the quotes at its ends that have no counterpart in it, or that are around it. */
function withoutQuotes({ start, end }: Span, quotes: Quotes): Span {
  const around = quotes.around(start);
  if (around === undefined) return { start, end };
  if (around.close === start) return { start: start + 1, end };
  if (around.open < start) return { start, end: Math.min(around.close, end) };
  return around.close === end - 1 ? { start: start + 1, end: end - 1 } : { start, end };
}

/** The next string of a list, without its quotes; `undefined` at the end of the list. */
function nextListed(text: string, from: number, limit: number): Span | undefined {
  NEXT_LISTED.lastIndex = from;
  if (!NEXT_LISTED.test(text)) return undefined;
  const start = NEXT_LISTED.lastIndex;
  const end = text.indexOf(text[start - 1] as string, start);
  return end === -1 || end > limit ? undefined : { start, end };
}

/** The next word of the same command, with its quotes; `undefined` at the end of the command. */
function nextWord(text: string, from: number, limit: number, quotes?: Quotes): Span | undefined {
  let start = from;
  while (start < limit && /[ \t<>\\]/.test(text[start] ?? "")) {
    start += text[start] === "\\" ? 2 : 1; // a backslash continues the line
  }
  if (start >= limit || ENDS_COMMAND.test(text[start] ?? "")) return undefined;
  let end = start;
  while (end < limit && !ENDS_WORD.test(text[end] ?? "")) {
    const char = text[end];
    if (char === '"' || char === "'") {
      const closing = quotes ? quotes.closeOf(end) : text.indexOf(char, end + 1);
      // Otherwise the quote belongs to the text around the command.
      if (closing === undefined || closing === -1 || closing >= limit) break;
      end = closing;
    }
    end += char === "\\" ? 2 : 1;
  }
  return { start, end: Math.min(Math.max(end, start + 1), limit) };
}
