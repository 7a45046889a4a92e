import { LONG_NEEDLE, LongNeedle } from "./long-needle.ts";

/**
 * A pattern in which `*` stands for zero or more characters, taken apart once to be compared with many texts. Every other
 * character stands for itself. Patterns do not become regular expressions, and there is no backtracking: the pieces
 * between the stars are found from left to right. So a match takes time linear in the sum of both lengths. Several stars in
 * a row mean the same as one.
 */
export class StarPattern {
  readonly #first: string;
  /** `undefined` without a star. */
  readonly #last: string | undefined;
  /** Not closures: a pattern of 1 MiB may have half a million pieces. */
  readonly #inner: readonly (string | LongNeedle<string>)[];

  constructor(pattern: string) {
    const [first = "", ...pieces] = pattern.split("*");
    this.#first = first;
    this.#last = pieces.pop();
    this.#inner = pieces
      .filter((piece) => piece !== "")
      .map((piece) => (piece.length > LONG_NEEDLE ? new LongNeedle(piece) : piece));
  }

  /** Whether there is text between two stars, which is searched for. */
  get hasInner(): boolean {
    return this.#inner.length > 0;
  }

  /** Whether a whole text matches. */
  matches(text: string): boolean {
    return this.fitsEnds(text) && this.fitsInner(text);
  }

  /** Whether the pieces before the first star and after the last one match. */
  fitsEnds(text: string): boolean {
    const first = this.#first;
    const last = this.#last;
    if (last === undefined) return text === first;
    const hasRoom = text.length >= first.length + last.length;
    return hasRoom && text.startsWith(first) && text.endsWith(last);
  }

  /** Whether a text whose ends match has the pieces between the stars, too. */
  fitsInner(text: string): boolean {
    let at = this.#first.length;
    for (const piece of this.#inner) {
      // The earliest position leaves the most room for the pieces that follow.
      const found = typeof piece === "string" ? text.indexOf(piece, at) : piece.indexIn(text, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return at <= text.length - (this.#last?.length ?? 0);
  }
}
