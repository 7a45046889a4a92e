/** Reads the arguments of programs that run another command. Only known options are read. */
import { assignmentIn, beginsPlainly, isUncertain, type Word } from "./command.ts";

interface Certainty {
  /** Whether the program may run something else, for example because of an unknown option or an expanded variable. */
  readonly isUnclear: boolean;
}

/** A command inside another one. */
export type Inner = Certainty &
  (
    | {
        readonly words: readonly Word[];
        readonly assignments?: readonly Word[];
        /** Whether this is the program itself with the rest of its arguments. */
        readonly isAgain?: true;
      }
    | {
        readonly script: string;
        /** Whether any POSIX shell may read the text, which reads some of Bash's operators otherwise. */
        readonly isPosix: boolean;
      }
  );

/** The arguments of a program before the command that it runs. */
export interface Arguments {
  /** The options that stand alone, or contain their value. */
  readonly alone?: RegExp;
  /** The options that stand alone, and make it unclear what the command does. */
  readonly flags?: RegExp;
  /** The options that take the next word as their value. */
  readonly valued?: RegExp;
  /** The options that take the next word as their value, and make it unclear what the command does. */
  readonly valuedFlags?: RegExp;
  /** The arguments before the command. */
  readonly operands?: readonly RegExp[];
  /** Whether `NAME=value` may stand before the command. */
  readonly assigns?: boolean;
}

const NEVER = /(?!)/;
/** One word, whatever its variables and substitutions contain. */
const ONE_WORD = /^"[^"@]*"$/;
/** One assignment, whatever its variables and substitutions contain. */
const ONE_ASSIGNMENT = /^(?:[A-Za-z_]\w*="|"[A-Za-z_]\w*=)[^"@]*"$/;
/** One option with its value, whatever the variables and substitutions in the value contain. */
const ONE_OPTION = /^(?:--[a-z-]+="|"--[a-z-]+=)[^"@]*"$/;

/**
 * Reads the options of a program. Where they end is known if each option is: an unknown one may take a value. The next
 * word may be that value, even if it looks like an option, so behind an unknown one no option takes a value for sure.
 */
export function optionsOf(
  words: readonly Word[],
  { alone = NEVER, flags = NEVER, valued = NEVER, valuedFlags = NEVER }: Arguments,
) {
  let isUnclear = false;
  let hasFlag = false;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] as Word;
    const { value } = word;
    if (!value.startsWith("-")) break;
    if (isUncertain(word) && !ONE_OPTION.test(word.raw)) isUnclear = true;
    if (value === "--") {
      at++;
      break;
    }
    const isValued = valued.test(value);
    if (!isUnclear && (isValued || valuedFlags.test(value))) {
      const own = words[++at];
      hasFlag ||= !isValued;
      if (own && isUncertain(own)) {
        if (ONE_WORD.test(own.raw)) hasFlag = true;
        else isUnclear = true;
      }
    } else if (alone.test(value)) continue;
    else if (flags.test(value)) hasFlag = true;
    else isUnclear = true;
  }
  return { at, isUnclear: isUnclear || hasFlag, isEndKnown: !isUnclear };
}

const NUMBER_OR_FOLDER = /^[\d./]|\/$/;

/** Whether a variable before some words may be an option, with or without a value, and an operand may follow it. */
function mayFollow(operand: RegExp, next: Word | undefined, second: Word | undefined): boolean {
  if (next === undefined) return false;
  if (isUncertain(next) || next.value.startsWith("-")) return true;
  return [next, second].some(
    (word) => word && operand.test(word.value) && NUMBER_OR_FOLDER.test(word.value),
  );
}

/** Makes the reader of a program with options, operands and assignments before the command. */
export function commandAfter(settings: Arguments) {
  const { operands = [], assigns = false } = settings;
  return (words: readonly Word[]): readonly Inner[] => {
    const options = optionsOf(words, settings);
    let { at } = options;
    let isUnclear = !options.isEndKnown;
    let isVague = options.isUnclear;
    let next = at + 1;
    for (const operand of operands) {
      const word = words[at++];
      if (word && isUncertain(word) && ONE_WORD.test(word.raw)) {
        isVague = true;
        isUnclear ||= !beginsPlainly(word) && mayFollow(operand, words[at], words[at + 1]);
      } else isUnclear ||= word === undefined || isUncertain(word) || !operand.test(word.value);
    }
    const assignments: Word[] = [];
    if (assigns) {
      // `env` takes every word with `=`. An unquoted variable could become several words.
      for (; words[at]?.value.includes("="); at++) {
        const word = words[at] as Word;
        if (isUncertain(word) && ONE_ASSIGNMENT.test(word.raw)) isVague = true;
        else isUnclear ||= isUncertain(word) || assignmentIn(word.value) === undefined;
        assignments.push(word);
      }
      // `sudo` reads options behind assignments too.
      if (assignments.length > 0 && words[at]?.value.startsWith("-")) {
        isUnclear = true;
        next = at;
      }
    }
    const inners = innersAt(words, at, isUnclear || isVague, assignments);
    if (!isUnclear) return inners.slice(0, 1);
    return [...inners, ...again(words, next, operands.length > 0)];
  };
}

/** The command at a position. If it is unclear, the next word may be its program too: an option may take a value. */
export function innersAt(
  words: readonly Word[],
  at: number,
  isUnclear: boolean,
  assignments: readonly Word[] = [],
): readonly Inner[] {
  if (at >= words.length) return isUnclear ? [{ words: [], isUnclear }] : [];
  const first = { words: words.slice(at), assignments, isUnclear };
  return isUnclear ? [first, { words: words.slice(at + 1), isUnclear }] : [first];
}

/**
 * The program once more, with the arguments from a position on. Behind the value of an unknown option there may be more
 * options, operands and assignments in front of the command.
 *
 * @param isRead whether a command right behind the value must be read again; otherwise it is known already
 */
export function again(words: readonly Word[], next: number, isRead = false): readonly Inner[] {
  if (next >= words.length) return [];
  if (!isRead && !/^-|=/.test(words[next]?.value ?? "")) return [];
  return [{ words: [...words.slice(0, 1), ...words.slice(next)], isUnclear: true, isAgain: true }];
}

/** The text that some words make together. */
export function scriptOf(
  words: readonly Word[],
  { isPosix = false, isUnclear = false } = {},
): readonly Inner[] {
  if (words.length === 0) return isUnclear ? [{ words, isUnclear }] : [];
  const script = words.map(({ value }) => value).join(" ");
  const texts = words.flatMap(({ raw }) => documentIn(raw) ?? []);
  return [
    { script, isPosix, isUnclear: isUnclear || words.some(isUncertain) },
    ...texts.map((text) => ({ script: text, isPosix, isUnclear: true })),
  ];
}

const DOCUMENT = /^"?\$\(\s{0,8}cat\s{1,8}<<-?\s{0,8}["'\\]?(\w{1,40})["']?\n/;
const DOCUMENT_END = /\n\t{0,8}(\w{1,40})\s{1,8}\)"?$/;

/** The here-document of `"$(cat <<E …)"`, which is the whole text of the word. */
function documentIn(raw: string): string | undefined {
  const begin = DOCUMENT.exec(raw);
  const end = begin && DOCUMENT_END.exec(raw.slice(-80));
  if (!end || end[1] !== begin[1]) return undefined;
  return raw.slice(begin[0].length, -end[0].length);
}

/** Makes the reader of a program with options before a text, which any POSIX shell may read. */
export function scriptAfter(settings: Arguments) {
  return (words: readonly Word[]) => {
    const { at, isUnclear, isEndKnown } = optionsOf(words, settings);
    const script = scriptOf(words.slice(at), { isPosix: true, isUnclear });
    return isEndKnown ? script : [...script, ...again(words, at + 1, true)];
  };
}

/** The texts on the input of a shell. Their commands may read parts of them, after which it finds others in the rest. */
export function scriptsIn(inputs: readonly string[], isPosix: boolean): readonly Inner[] {
  return inputs.map((script) => ({ script, isPosix, isUnclear: true }));
}
