/** Finds the quoted parts of a text, as a shell reads it. */

import type { Work } from "../../core/scheduling/work.ts";
import { lastBefore } from "./spans.ts";

/** A part in quotes: the positions of its quotes. */
export interface Quoted {
  readonly open: number;
  readonly close: number;
}

/** A quote, a backslash, or a `#`. */
const NEXT = /["'\\#]/g;
/** The character before the `#` of a comment, if there is one. */
const BEFORE_COMMENT = /[\s;]/;
const IN_DOUBLE = /["'\\\x60(){}]/g;
/** Substitutions within substitutions, up to which double quotes are read exactly. */
const MOST_NESTED = 32;
/** The quotes and brackets that are read in one part of the work. */
const MARKS_OF_A_PART = 2_048;

/** The quoted parts of one text, outside of comments and of other quoted parts. Reads as far as it is asked. */
export class Quotes {
  readonly #text: string;
  readonly #opens: number[] = [];
  readonly #closes: number[] = [];
  /** The end of the text that was read. */
  #at = 0;
  /** Quotes that have no closing one in the rest of the text. Looking for it again would take quadratic time. */
  readonly #unclosed = new Set<string>();
  /** The part in double quotes whose end is being looked for. */
  #double: DoubleQuoted | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the whole text. Without this, one question may have to read a part in quotes of a MiB. */
  *read(): Work<void> {
    for (let marks = 1; this.#at < this.#text.length; marks++) {
      this.#readOne(MARKS_OF_A_PART);
      if (this.#double || marks % MARKS_OF_A_PART === 0) yield;
    }
  }

  /** The quoted part that contains a position, or whose quote is there. */
  around(place: number): Quoted | undefined {
    while (this.#at <= place) this.#readOne();
    const index = lastBefore(this.#opens, place);
    const open = this.#opens[index];
    const close = this.#closes[index];
    return open !== undefined && close !== undefined && place <= close
      ? { open, close }
      : undefined;
  }

  /** The closing quote for an opening one; `undefined` if there is no opening quote at a position. */
  closeOf(place: number): number | undefined {
    const quoted = this.around(place);
    return quoted?.open === place ? quoted.close : undefined;
  }

  /** Reads one quote, or a few marks of a part in double quotes. */
  #readOne(most = Infinity): void {
    if (this.#double) {
      this.#readDouble(this.#double, most);
      return;
    }
    const text = this.#text;
    NEXT.lastIndex = this.#at;
    const open = NEXT.exec(text)?.index ?? text.length;
    const char = text[open];
    if (char === '"' && !this.#unclosed.has('$"')) {
      this.#readDouble(new DoubleQuoted(text, open), most);
      return;
    }
    this.#at = open + (char === "\\" ? 2 : 1);
    const isComment = char === "#" && (open === 0 || BEFORE_COMMENT.test(text[open - 1] as string));
    if (isComment) this.#at = indexFrom(text, "\n", open);
    if (char === '"') this.#add(open, this.#simpleCloseOf(open));
    if (char === "'") this.#add(open, this.#closeOfSingle(open));
  }

  #readDouble(double: DoubleQuoted, most: number): void {
    const { open } = double;
    const close = double.findClose(most);
    this.#double = close === undefined ? double : undefined;
    if (close === undefined) return;
    this.#at = open + 1;
    if (close === -1) this.#unclosed.add('$"');
    this.#add(open, close === -1 ? this.#simpleCloseOf(open) : close);
  }

  #add(open: number, close: number): void {
    if (close === -1) return;
    this.#opens.push(open);
    this.#closes.push(close);
    this.#at = close + 1;
  }

  #closeOfSingle(open: number): number {
    const isEscaped = this.#text[open - 1] === "$" && this.#text[open - 2] !== "\\";
    return isEscaped
      ? this.#once("$'", () => closeOf(this.#text, "'", open))
      : this.#once("'", () => this.#text.indexOf("'", open + 1));
  }

  #simpleCloseOf(open: number): number {
    return this.#once('"', () => closeOf(this.#text, '"', open));
  }

  #once(kind: string, find: () => number): number {
    if (this.#unclosed.has(kind)) return -1;
    const close = find();
    if (close === -1) this.#unclosed.add(kind);
    return close;
  }
}

/** The next such quote that is not escaped; -1 if there is none. */
function closeOf(text: string, quote: string, open: number): number {
  for (let at = text.indexOf(quote, open + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    let start = at;
    while (start > open + 1 && text[start - 1] === "\\") start--;
    if ((at - start) % 2 === 0) return at;
  }
  return -1;
}

/** A part in double quotes, whose end is looked for. Substitutions in it have quotes of their own. */
class DoubleQuoted {
  readonly open: number;
  readonly #text: string;
  readonly #ends = ['"'];
  #next: number;

  constructor(text: string, open: number) {
    this.#text = text;
    this.open = open;
    this.#next = open + 1;
  }

  /** The closing quote, or -1 if there is none; `undefined` if it is not among these next marks. */
  findClose(most: number): number | undefined {
    const text = this.#text;
    const ends = this.#ends;
    IN_DOUBLE.lastIndex = this.#next;
    for (let marks = 0; marks < most; marks++) {
      const at = IN_DOUBLE.exec(text)?.index;
      if (at === undefined) return -1;
      const char = text[at] as string;
      const end = ends[ends.length - 1];
      const isCommand = end === ")" || end === "`";
      if (char === "\\") IN_DOUBLE.lastIndex = at + 2;
      else if (char === end) ends.pop();
      else if (char === '"' || char === "`") ends.push(char);
      else if (char === "(" && (isCommand || text[at - 1] === "$")) ends.push(")");
      else if (char === "{" && text[at - 1] === "$") ends.push("}");
      else if (char === "'" && isCommand) {
        const close = text.indexOf("'", at + 1);
        if (close === -1) return -1;
        IN_DOUBLE.lastIndex = close + 1;
      }
      if (ends.length === 0) return at;
      if (ends.length > MOST_NESTED) return -1;
    }
    this.#next = IN_DOUBLE.lastIndex;
    return undefined;
  }
}

function indexFrom(text: string, char: string, from: number): number {
  const at = text.indexOf(char, from);
  return at === -1 ? text.length : at;
}
