/** Finds the quoted parts of a text, as a shell reads it. */

import { lastBefore } from "./spans.ts";

/** A part in quotes: the positions of its quotes. */
export interface Quoted {
  readonly open: number;
  readonly close: number;
}

/** A quote, a backslash, or the `#` of a comment. */
const NEXT = /["'\\]|(?<![^\s;])#/g;
const IN_DOUBLE = /["'\\\x60(){}]/g;
/** Substitutions within substitutions, up to which double quotes are read exactly. */
const MOST_NESTED = 32;

/** The quoted parts of one text, outside of comments and of other quoted parts. Reads as far as it is asked. */
export class Quotes {
  readonly #text: string;
  readonly #opens: number[] = [];
  readonly #closes: number[] = [];
  /** The end of the text that was read. */
  #at = 0;
  /** Quotes that have no closing one in the rest of the text. Looking for it again would take quadratic time. */
  readonly #unclosed = new Set<string>();

  constructor(text: string) {
    this.#text = text;
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

  #readOne(): void {
    const text = this.#text;
    NEXT.lastIndex = this.#at;
    const open = NEXT.exec(text)?.index ?? text.length;
    const char = text[open];
    this.#at = open + (char === "\\" ? 2 : 1);
    if (char === "#") this.#at = indexFrom(text, "\n", open);
    if (char !== "'" && char !== '"') return;
    const close = char === '"' ? this.#closeOfDouble(open) : this.#closeOfSingle(open);
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

  #closeOfDouble(open: number): number {
    const exact = this.#once('$"', () => closeOfExact(this.#text, open));
    return exact === -1 ? this.#once('"', () => closeOf(this.#text, '"', open)) : exact;
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
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

/** The end of a part in double quotes. Substitutions in it have quotes of their own. */
function closeOfExact(text: string, open: number): number {
  const ends = ['"'];
  IN_DOUBLE.lastIndex = open + 1;
  for (let found = IN_DOUBLE.exec(text); found; found = IN_DOUBLE.exec(text)) {
    const at = found.index;
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
  return -1;
}

function indexFrom(text: string, char: string, from: number): number {
  const at = text.indexOf(char, from);
  return at === -1 ? text.length : at;
}
