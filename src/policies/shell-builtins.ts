/**
 * Examines the builtins of Bash that evaluate their arguments once more, set variables, or change how the shell reads its
 * text. An argument that is not known to be harmless raises a doubt.
 */
import {
  beginsPlainly,
  isPattern,
  isUncertain,
  Unsplittable,
  type Word,
  withoutQuoted,
} from "./shell-command.ts";
import type { ShellDoubts } from "./shell-doubts.ts";

const NAME = /^[A-Za-z_]\w*$/;
const DECLARATION = /^[A-Za-z_]\w*(?:\+?=|$)/;
const NUMBER = /^"?(?:-?\d+|\$[#?!$]|\$\{#[A-Za-z_]\w*\}|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\})"?$/;
const COMPARES_NUMBERS = /-(?:eq|ne|lt|le|gt|ge)$/;
const ASKS_FOR_VARIABLE = /-[vR]$/;
/** A comment of Bash in a condition, where operators end words as well. */
const BEGINS_COMMENT = /(?:^|[()<>&|!])#/;
const UNARY = /^-[a-zA-Z]$/;
const BINARY = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;
/** The settings of a shell that change nothing about how it reads its text. */
const SETTINGS = new Set(
  "errexit nounset pipefail xtrace verbose noglob noclobber noexec errtrace functrace".split(" "),
);

const GLOB_SETTINGS = /^(?:null|fail|dot|nocase)glob$|^globstar$/;

/** Whether a word switches harmless settings of a shell on or off; `o` at its end takes the next word, their name. */
export function isSetting(option: string, name: string | undefined): boolean {
  return (
    /^[-+][abefhnuvxCET]*o?$/.test(option) && (!option.endsWith("o") || SETTINGS.has(name ?? ""))
  );
}

type Examine = (words: readonly Word[], doubts: ShellDoubts) => void;

const raise: Examine = (_, doubts) => doubts.raise();
const EXAMINED: ReadonlyMap<string, Examine> = new Map<string, Examine>([
  ["test", (words, doubts) => examineTest(words.slice(1), doubts)],
  ["[", examineBracket],
  ["printf", examinePrintf],
  ["read", examineRead],
  // Without a `PATH`, Bash looks for programs in the current directory.
  ["unset", (words, doubts) => examineEach(words, /^-[vf]$/, /^(?!PATH$)[A-Za-z_]\w*$/, doubts)],
  ["jobs", (words, doubts) => examineEach(words, /^-[lnprs]+$/, /^%\w+$/, doubts)],
  ...["declare", "typeset", "local", "export", "readonly"].map(
    (name) => [name, examineDeclaration] as const,
  ),
  ["wait", (words, doubts) => examineEach(words, /^-n$/, /^"?(?:\d+|\$!|%\d+)"?$/, doubts)],
  ["set", examineSet],
  ["shopt", (words, doubts) => examineEach(words, /^-[su]$/, GLOB_SETTINGS, doubts)],
  ...["let", "getopts", "mapfile", "readarray", "alias", "hash", "enable"].map(
    (name) => [name, raise] as const,
  ),
  ...["compgen", "complete", "bind", "fc"].map((name) => [name, raise] as const),
]);

/** Examines a builtin and its arguments. */
export function examineBuiltin(name: string, words: readonly Word[], doubts: ShellDoubts): void {
  EXAMINED.get(name)?.(words, doubts);
}

/** Examines the words of a condition in `[[ ]]`, which compares numbers as arithmetic. */
export function examineCondition(words: readonly Word[], doubts: ShellDoubts): void {
  for (const [at, { raw }] of words.entries()) {
    if (BEGINS_COMMENT.test(raw)) throw new Unsplittable(); // in quotes it only costs an allow rule
    if (/[()]/.test(raw) && endsElsewhere(raw, words[at - 1])) throw new Unsplittable();
    if (COMPARES_NUMBERS.test(raw)) {
      examineNumber(words[at - 1], doubts);
      examineNumber(words[at + 1], doubts);
    } else if (ASKS_FOR_VARIABLE.test(raw) && !NAME.test(words[at + 1]?.raw ?? "")) {
      doubts.raise();
    }
  }
}

/**
 * Whether Bash may see another end of a word than its space, or an end of the condition in it. In parentheses of regular
 * expressions and patterns, a space and `]]` are text, and after other parentheses `]]` needs no space.
 */
function endsElsewhere(raw: string, before: Word | undefined): boolean {
  const text = withoutQuoted(raw).replace(/\$\{\w+\}/g, "");
  if (text.includes(")]]")) return true;
  if (/[$<>]\(|`|\$\{/.test(text) && /(?:^|[^$<>])\(/.test(text)) return true;
  if (/^\(+[^()]*$/.test(text) && !/^(?:=~|[=!]?=)$/.test(before?.raw ?? "")) return false;
  let open = 0;
  for (const char of text) {
    if (char === "(") open++;
    else if (char === ")" && open > 0) open--;
  }
  return open > 0;
}

function examineNumber(word: Word | undefined, doubts: ShellDoubts): void {
  const [found, plain, braced] = NUMBER.exec(word?.raw ?? "") ?? [];
  const name = plain ?? braced;
  if (found === undefined) doubts.raise();
  else if (name !== undefined) doubts.evaluate(name);
}

/** Examines `[`. A variable at its end could become more words and the `]`. */
function examineBracket(words: readonly Word[], doubts: ShellDoubts): void {
  if (words.at(-1)?.raw !== "]") doubts.raise();
  examineTest(words.slice(1, -1), doubts);
}

/** Examines `test`: variables and substitutions may only stand where the command cannot take them for operators. */
function examineTest(words: readonly Word[], doubts: ShellDoubts): void {
  if (words.some(isPattern)) return doubts.raise();
  const isKnown = words.every(({ bare }) => bare === undefined);
  for (const [at, { value }] of words.entries()) {
    if (/^-[vR]$/.test(value) && !NAME.test(words[at + 1]?.raw ?? "")) return doubts.raise();
  }
  if (isKnown) return;
  let at = 0;
  for (;;) {
    while (words[at]?.raw === "!") at++;
    const [first, second, third] = words.slice(at, at + 3);
    if (first && second && third && BINARY.test(second.raw)) {
      if (!isOneOperand(first, doubts) || !isOneOperand(third, doubts)) break;
      at += 3;
    } else if (first && second && UNARY.test(first.raw)) {
      if (!isOneOperand(second, doubts)) break;
      at += 2;
    } else {
      if (!first || !isOneOperand(first, doubts)) break;
      at++;
    }
    if (at === words.length) return;
    if (!/^-[ao]$/.test(words[at]?.raw ?? "")) break;
    at++;
  }
  doubts.raise();
}

/** Whether a shell makes exactly one word of a word, as it does of quoted expansions and of numbers. */
function isOneOperand(word: Word, doubts: ShellDoubts): boolean {
  const { raw, bare } = word;
  if (bare !== undefined && !/^"[^"@]*"$/.test(raw)) examineNumber(word, doubts);
  return true;
}

function examinePrintf([, first, name]: readonly Word[], doubts: ShellDoubts): void {
  if (!first) return;
  if (first.raw === "-v" && NAME.test(name?.raw ?? "")) return doubts.set(name?.raw ?? "", false);
  if (isUncertain(first) ? !beginsPlainly(first) : first.value.startsWith("-v")) doubts.raise();
}

function examineRead(words: readonly Word[], doubts: ShellDoubts): void {
  for (let at = 1; at < words.length; at++) {
    const { raw } = words[at] as Word;
    const next = words[at + 1];
    if (/^-[rse]*[ptndNu]$/.test(raw) && !(next && isUncertain(next))) at++;
    else if (/^-[rse]*a$/.test(raw)) doubts.setArray(next?.raw ?? "");
    else if (/^-[rse]+$/.test(raw)) continue;
    else if (NAME.test(raw)) doubts.set(raw, false);
    else return doubts.raise();
  }
}

function examineDeclaration(words: readonly Word[], doubts: ShellDoubts): void {
  const isArray = words.some(({ raw }) => /^-\w*[aA]/.test(raw));
  for (const word of words.slice(1)) {
    if (/^-[gxrpaAf]+$/.test(word.raw)) continue;
    if (!DECLARATION.test(word.raw)) return doubts.raise();
    if (/^PS4\b/.test(word.raw)) return doubts.raise(); // `set -x` evaluates it
    doubts.declare(word, isArray);
  }
}

function examineSet(words: readonly Word[], doubts: ShellDoubts): void {
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as Word;
    const { raw } = word;
    if (raw === "--") return;
    if (/^[-+]/.test(raw) ? !isSetting(raw, words[at + 1]?.raw) : !beginsPlainly(word)) {
      return doubts.raise();
    }
    if (/^[-+].*o$/.test(raw)) at++;
  }
}

function examineEach(words: readonly Word[], options: RegExp, values: RegExp, doubts: ShellDoubts) {
  const isKnown = words.slice(1).every(({ raw }) => options.test(raw) || values.test(raw));
  if (!isKnown) doubts.raise();
}
