/**
 * Cuts long strings in JSON that arrives in pieces, so that a list can show the start of a 1 MiB text
 * without holding or parsing all of it. A cut string ends in an ellipsis. It works on bytes: a character,
 * an escape or a pair of escaped surrogates is kept or dropped as a whole, even across two pieces.
 */
import { BACKSLASH, LETTER_U, QUOTE } from "./json-tokens.ts";
import { Yielder } from "../scheduling/yielder.ts";
import type { Pieces } from "../pieces.ts";

const ELLIPSIS = Buffer.from("…");
/** About a tenth of a millisecond of work. */
const PIECE_BYTES = 64 << 10;

/** Cuts the strings of one JSON text, including the names of members. */
export class TextCutter {
  /** Whether any string was cut. */
  hasCut = false;
  readonly #most: number;
  #isInText = false;
  #isCut = false;
  /** The characters of the current string so far. */
  #count = 0;
  /** The position in an escape: 0 outside, 1 after the backslash, 2 to 5 before the digits after `\u`. */
  #escape = 0;
  /** The first digits of the escape: two of them identify a surrogate. */
  #digits = "";
  /** Whether the last escape was a high surrogate: the next escape then belongs to the same character. */
  #isHalf = false;

  /**
   * @param most the number of characters of a string that are kept
   */
  constructor(most: number) {
    this.#most = most;
  }

  /** Returns the next bytes of the text, with long strings cut. */
  cut(piece: Buffer): Buffer {
    const kept: Buffer[] = [];
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      if (!this.#isInText) {
        at = piece.indexOf(QUOTE, at);
        if (at === -1) break;
        this.#begin();
      } else if (this.#isCut) {
        at = this.#skip(piece, at);
        start = at;
      } else if (!this.#keeps(piece[at] as number)) {
        kept.push(piece.subarray(start, at), ELLIPSIS);
        this.#isCut = this.hasCut = true;
        at--; // this byte is the first to be dropped
      }
    }
    if (kept.length === 0) return start === 0 ? piece : piece.subarray(start);
    kept.push(piece.subarray(start));
    return Buffer.concat(kept);
  }

  #begin(): void {
    this.#isInText = true;
    this.#isCut = false;
    this.#isHalf = false;
    this.#count = 0;
  }

  /** Processes a byte of the string; `false` if it begins a character beyond the limit. */
  #keeps(byte: number): boolean {
    if (this.#escape > 0) {
      this.#goOn(byte);
      return true;
    }
    if (byte === QUOTE) {
      this.#isInText = false;
      return true;
    }
    if (byte >= 0x80 && byte < 0xc0) return true; // continues a character
    const isNew = !(this.#isHalf && byte === BACKSLASH);
    if (isNew && this.#count === this.#most) return false;
    if (isNew) this.#count++;
    this.#isHalf = false;
    if (byte === BACKSLASH) this.#escape = 1;
    return true;
  }

  #goOn(byte: number): void {
    if (this.#escape === 1 && byte !== LETTER_U) this.#escape = 0;
    else if (this.#escape === 1) {
      this.#escape = 2;
      this.#digits = "";
    } else {
      this.#digits += String.fromCharCode(byte);
      this.#escape = this.#escape === 5 ? 0 : this.#escape + 1;
      this.#isHalf = this.#escape === 0 && /^d[89ab]/i.test(this.#digits);
    }
  }

  /** Finds the end of a cut string, or of the piece if the string goes on. */
  #skip(piece: Buffer, from: number): number {
    let at = from + this.#escape;
    this.#escape = 0;
    while (at < piece.length && piece[at] !== QUOTE) at += piece[at] === BACKSLASH ? 2 : 1;
    if (at < piece.length) this.#isInText = false;
    else this.#escape = at - piece.length; // the second byte of the escape is in the next piece
    return Math.min(at, piece.length);
  }
}

/** Cuts the long strings of JSON, piece by piece as it is read, without blocking the event loop. */
export function cutTexts(json: Buffer | Pieces, cutter: TextCutter): Pieces {
  const read = async function* (): AsyncGenerator<Buffer> {
    const yielder = new Yielder();
    for await (const piece of Buffer.isBuffer(json) ? [json] : json) {
      for (let at = 0; at < piece.length; at += PIECE_BYTES) {
        const part = cutter.cut(piece.subarray(at, at + PIECE_BYTES));
        if (part.length > 0) yield part;
        await yielder.step();
      }
    }
  };
  const close = (): void => {
    if (!Buffer.isBuffer(json)) json.close();
  };
  return { [Symbol.asyncIterator]: read, close };
}
