/**
 * Finds the texts that contain another text. They are stored one after another, in UTF-8 and lower case, each
 * followed by a byte FF, which cannot occur in UTF-8. So they are searched as one text, and a match never crosses
 * a boundary. The search runs in pieces of less than a millisecond: a piece ends after a number of bytes, even
 * within a text, or after a number of matches. The next piece begins at the first position where a match is still
 * possible.
 */
import { finderOf, LONG_NEEDLE } from "../../../../core/long-needle.ts";

const PIECE_BYTES = 256 << 10;
/** The piece in which a long needle is looked for. */
const LONG_PIECE_BYTES = 64 << 10;
/** The most texts found in one piece: each costs another call of the native search. */
const PIECE_FOUND = 4096;

/** Finds the texts that contain a text, in ascending order. */
export class TextFinder {
  /** The numbers of the found texts; the first of all texts is number 1. */
  readonly found: number[] = [];
  readonly #needle: Buffer;
  readonly #ends: Uint32Array;
  readonly #indexIn: (piece: Buffer, from: number) => number;
  readonly #pieceBytes: number;
  #index = 0;

  /** `ends` has the end of each text, including its separator. */
  constructor(needle: Buffer, ends: Uint32Array) {
    this.#needle = needle;
    this.#ends = ends;
    this.#indexIn = finderOf(needle);
    this.#pieceBytes = needle.length > LONG_NEEDLE ? LONG_PIECE_BYTES : PIECE_BYTES;
  }

  /** Skips all texts before the given one; the first has index 0. */
  passTo(index: number): void {
    this.#index = index;
  }

  /** Whether a match may begin at `at` or later, if the texts end at `end`. */
  isBefore(at: number, end: number): boolean {
    return at + this.#needle.length <= end;
  }

  /** The end of the piece that begins at `at`, if the texts end at `end`. */
  endOf(at: number, end: number): number {
    return Math.min(end, at + this.#pieceBytes + this.#needle.length);
  }

  /** Searches the piece that begins at `at`, and returns the position where the next piece begins. */
  search(piece: Buffer, at: number): number {
    const needle = this.#needle;
    const ends = this.#ends;
    const most = this.found.length + PIECE_FOUND;
    let index = this.#index;
    let next = at + piece.length - needle.length + 1;
    for (let match = this.#indexIn(piece, 0); match !== -1;) {
      while ((ends[index] as number) <= at + match) index++;
      this.found.push(index + 1);
      const end = ends[index] as number;
      if (end - at >= piece.length || this.found.length === most) {
        next = end;
        break;
      }
      match = this.#indexIn(piece, end - at);
    }
    this.#index = index;
    return next;
  }
}

/** The codes of the values in memory that contain a text; yields after every piece. */
export function* codesHolding(
  values: Buffer,
  ends: Uint32Array,
  needle: Buffer,
): Generator<undefined, readonly number[]> {
  const finder = new TextFinder(needle, ends);
  for (let at = 0; finder.isBefore(at, values.length);) {
    at = finder.search(values.subarray(at, finder.endOf(at, values.length)), at);
    yield;
  }
  return finder.found;
}
