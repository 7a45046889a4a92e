import type { PolicyProblem } from "./schema.ts";

const MAX_PROBLEMS = 100;
const MAX_MESSAGE_LENGTH = 300;

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Collects up to a hundred problems of a text, and finds the line and column of each. */
export class Problems {
  readonly #text: string;
  readonly #found: { readonly offset: number; readonly message: string }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  get count(): number {
    return this.#found.length;
  }

  /** Whether further problems are dropped. */
  get isFull(): boolean {
    return this.#found.length >= MAX_PROBLEMS;
  }

  /** Adds a problem at an offset, counted in UTF-16 code units; the message is cut to one short line. */
  add(offset: number, message: string): void {
    if (this.isFull) return;
    const isLong = message.length > MAX_MESSAGE_LENGTH;
    const cut = isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
    // Line breaks of every kind, and an unpaired surrogate that the cut may have left.
    const line = cut.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ");
    this.#found.push({ offset: Math.min(Math.max(offset, 0), this.#text.length), message: line });
  }

  /** The problems in the order of the text. Lines end at LF, CR LF or CR; columns count code units. */
  list(): readonly PolicyProblem[] {
    const ordered = this.#found.toSorted((a, b) => a.offset - b.offset);
    // One pass over the text, up to the last problem: a text may consist of line breaks.
    const text = this.#text;
    let line = 1;
    let start = text.startsWith("\uFEFF") ? 1 : 0; // a byte order mark has no column
    let at = start;
    return ordered.map(({ offset, message }) => {
      for (; at < offset; at++) {
        const code = text.charCodeAt(at);
        const isBreak =
          code === LINE_FEED || (code === RETURN && text.charCodeAt(at + 1) !== LINE_FEED);
        if (!isBreak) continue;
        line++;
        start = at + 1;
      }
      return { message, line, column: Math.max(offset - start, 0) + 1 };
    });
  }
}
