/**
 * The values of one field within one segment. A row holds a small number, the code, in place of the
 * text; code 0 stands for a field that is absent. So a filter compares numbers, and a search tries
 * each distinct text once, however many rows have it.
 *
 * Hundreds of thousands of small strings would burden the garbage collector, so each dictionary of a sealed
 * segment is one block of bytes (for the active segment see `GrowingDictionary`):
 *
 *     count | hashes, ascending | codes by hash | ends of texts | ends of lower-cased texts |
 *     texts, one after another | lower-cased texts, each followed by a byte FF
 *
 * All numbers are 32 bits wide. No text in UTF-8 holds a byte FF, so no match runs over a boundary.
 */
import { codesHolding } from "../query/text-finder.ts";
import { hashOf } from "./byte-words.ts";

const NUMBER = Uint32Array.BYTES_PER_ELEMENT;
export const SEPARATOR = 0xff;
/** The most values that are kept as strings after their first use. */
const DECODED = 256;

/** Finds codes by values, and values by codes. */
export interface Dictionary {
  /** The number of values; their codes are 1 to `size`. */
  readonly size: number;
  /** The code of a value; `undefined` if no row has that value. */
  codeOf(value: string): number | undefined;
  valueOf(code: number): string;
  /** The codes whose lower-cased values contain some bytes, ascending; yields after every small part. */
  search(needle: Buffer): Generator<undefined, readonly number[]>;
}

/** A dictionary in one block of bytes. */
export class PackedDictionary implements Dictionary {
  readonly size: number;
  readonly #hashes: Uint32Array;
  readonly #codes: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #lowerEnds: Uint32Array;
  readonly #texts: Buffer;
  readonly #lower: Buffer;
  readonly #decoded = new Map<number, string>();

  /** The block begins at a multiple of four bytes. */
  constructor(block: Uint8Array) {
    const numbers = (index: number, count: number): Uint32Array =>
      new Uint32Array(block.buffer, block.byteOffset + index * NUMBER, count);
    const size = numbers(0, 1)[0] as number;
    this.size = size;
    this.#hashes = numbers(1, size);
    this.#codes = numbers(1 + size, size);
    this.#ends = numbers(1 + 2 * size, size);
    this.#lowerEnds = numbers(1 + 3 * size, size);
    const start = block.byteOffset + (1 + 4 * size) * NUMBER;
    const middle = start + (this.#ends[size - 1] ?? 0);
    this.#texts = Buffer.from(block.buffer, start, middle - start);
    this.#lower = Buffer.from(block.buffer, middle, this.#lowerEnds[size - 1] ?? 0);
  }

  codeOf(value: string): number | undefined {
    const hash = hashOf(value);
    for (let i = lowerBound(this.#hashes, hash); this.#hashes[i] === hash; i++) {
      const code = this.#codes[i] as number;
      if (this.#decode(code) === value) return code;
    }
    return undefined;
  }

  valueOf(code: number): string {
    const known = this.#decoded.get(code);
    if (known !== undefined) return known;
    const value = this.#decode(code);
    if (this.#decoded.size < DECODED) this.#decoded.set(code, value);
    return value;
  }

  #decode(code: number): string {
    return this.#texts.toString("utf8", this.#ends[code - 2] ?? 0, this.#ends[code - 1]);
  }

  search(needle: Buffer): Generator<undefined, readonly number[]> {
    return codesHolding(this.#lower, this.#lowerEnds, needle);
  }
}

/** The first index of an ascending list whose number is at least the given one. */
export function lowerBound(list: Uint32Array, value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
