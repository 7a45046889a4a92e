/** The parts of a shell text: simple commands, and their words. */
import { quotedWord } from "../../core/quoted-word.ts";

/** A word of a command. */
export interface Word {
  /** The word as it was written. */
  readonly raw: string;
  /** The word without its quotes. Variables and substitutions stay as they were written. */
  readonly value: string;
  /** The value without its variables and substitutions; `undefined` if it contains neither. */
  readonly bare: string | undefined;
}

/** A simple command: a program with its arguments. */
export interface SimpleCommand {
  /** The words after the leading `NAME=value` assignments, without redirections. */
  readonly words: readonly Word[];
  /** The leading `NAME=value` assignments. */
  readonly assignments: readonly Word[];
  /** The texts that the command reads, by `<<` and `<<<`. */
  readonly inputs: readonly string[];
  /** The redirections that may write settings or programs, each as operator and file. */
  readonly outputs?: readonly Word[] | undefined;
  /** The part of the text with these words; `undefined` if redirections are between them. */
  readonly source?: string | undefined;
  /** Whether only some shells would run this command. Such a command counts only for deny rules. */
  readonly isDoubtful?: true;
}

/** Receives the found commands one by one: a long text has too many to keep them. */
export type Found = (command: SimpleCommand) => void;

/** Thrown for an incomplete or too deeply nested shell program. */
export class Unsplittable extends Error {}

const RESERVED: ReadonlySet<string> = new Set([
  ...["if", "then", "elif", "else", "fi", "while", "until", "for", "select", "do", "done"],
  ...["case", "esac", "function", "{", "}", "!", "time", "coproc"],
]);

/** By character code: 1 if a reserved word begins with the character. Most programs need no further look. */
const beginsReserved = new Uint8Array(128);
for (const word of RESERVED) beginsReserved[word.charCodeAt(0)] = 1;

/** Whether a word opens, continues or closes a compound command if it is where a command can begin. */
export function isReserved(word: string): boolean {
  return beginsReserved[word.charCodeAt(0)] === 1 && RESERVED.has(word);
}

/** The subscript of an element may contain other ones, as in `x[y[0]]=1`. */
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^]*\])?\+?=/;

/** The `NAME=` at the beginning of a text, if there is one. */
export function assignmentIn(text: string): string | undefined {
  return text.includes("=") ? ASSIGNMENT.exec(text)?.[0] : undefined;
}

const QUOTED = /\$[$?]|\$'(?:[^'\\]|\\[^])*'|'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]/g;
/** Patterns of file names, and a tilde that stands for a directory of the shell. */
const PATTERN = /[*?[]|(?:^|[=:])~[-+\d]/;

/** Whether a shell makes words by itself of a word without variables: of braces, or the names of files. */
export function isPattern({ raw }: Word): boolean {
  return hasPattern(raw) && hasPattern(raw.replace(QUOTED, ""));
}

function hasPattern(text: string): boolean {
  return PATTERN.test(text) || hasBraces(text);
}

/** Whether there are braces with a list or a range. One pattern would take the square of the number of braces. */
function hasBraces(text: string): boolean {
  const open = text.indexOf("{");
  return open !== -1 && (text.includes(",", open) || text.includes("..", open));
}

/** Whether a shell may make other words of a word. */
export function isUncertain(word: Word): boolean {
  return word.bare !== undefined || isPattern(word);
}

const PLAIN_BEGINNING = /^(?:"(?:[^"$`\\+-]|\\[^\n])|'[^'+-]|[^"'$`\\{*?[+-])/;

/** Whether a shell makes no option of a word, because the first character is another literal one. */
export function beginsPlainly({ raw }: Word): boolean {
  return PLAIN_BEGINNING.test(raw);
}

/** A word that a program got without a shell, as a shell text would write it. */
export function givenWord(text: string): Word {
  return { raw: quotedWord(text), value: text, bare: undefined };
}

/** A word without quotes and expansions. */
export function plainWord(text: string): Word {
  return { raw: text, value: text, bare: undefined };
}

/** Puts a word together from its pieces. */
export class WordBuilder {
  value = "";
  bare = "";
  isDynamic = false;

  /** Adds text that stands for itself. */
  add(text: string): void {
    this.value += text;
    this.bare += text;
  }

  /** Adds an expansion as it was written; `bare` is its value if every variable is empty. */
  addDynamic(raw: string, bare = ""): void {
    this.value += raw;
    this.bare += bare;
    this.isDynamic = true;
  }
}

/**
 * Finds commands in a text that cannot be split properly: each part between two possible separators, quoted or not.
 * These commands count only for deny rules.
 */
export function roughCommands(text: string, found: Found): void {
  // `2>&1` separates nothing.
  const joined = text.replaceAll("\\\n", "").replace(/[<>]&/g, ">");
  for (const piece of new Set(joined.split(/[;&|\n(){}`]+/))) {
    const values = piece
      .replace(/\$?['"]|\\/g, "")
      .replace(/(?:(?<!\S)\d+)?[<>]+/g, " $& ")
      .split(/\s+/);
    const words = withoutRedirections(values).filter((value) => value !== "" && !isReserved(value));
    while (words[0] !== undefined && assignmentIn(words[0]) !== undefined) words.shift();
    if (words.length === 0) continue;
    found({ words: words.map(plainWord), assignments: [], inputs: [], isDoubtful: true });
  }
}

function withoutRedirections(values: readonly string[]): string[] {
  return values.filter(
    (value, at) => !/^\d*[<>]/.test(value) && !/^\d*[<>]/.test(values[at - 1] ?? ""),
  );
}
