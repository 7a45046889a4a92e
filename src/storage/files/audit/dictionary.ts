/**
 * The values of one field within one segment. A row holds a small number, the code, in place of the
 * text; code 0 stands for a field that is absent. So a filter compares numbers, and a search tries
 * each distinct text once, however many rows have it.
 *
 * While a segment grows its dictionaries are maps. Those of a sealed segment are packed into one
 * block of bytes, since hundreds of thousands of small strings would burden the garbage collector:
 *
 *     count | hashes, ascending | codes by hash | ends of texts | ends of lower-cased texts |
 *     texts, one after another | lower-cased texts, each followed by a byte FF
 *
 * All numbers are 32 bits wide. No text in UTF-8 holds a byte FF, so no match runs over a boundary.
 */
import { hashOf } from "./hash.ts";

const NUMBER = Uint32Array.BYTES_PER_ELEMENT;
export const SEPARATOR = 0xff;
/** So many values are kept as strings once they were asked for. */
const DECODED = 256;

/** Finds codes by values, and values by codes. */
export interface Dictionary {
  /** How many values there are; their codes are 1 to `size`. */
  readonly size: number;
  /** `undefined` when no row has that value. */
  codeOf(value: string): number | undefined;
  valueOf(code: number): string;
  /** The codes whose lower-cased values hold a text, which is lower-cased itself. */
  search(text: string): readonly number[];
}

/** A dictionary that takes new values. */
export class GrowingDictionary implements Dictionary {
  readonly #codes = new Map<string, number>();
  readonly #values: string[] = [];
  readonly #lower: string[] = []; // filled by searches, as far as they have come
  #last: string | undefined;
  #lastCode = 0;

  get size(): number {
    return this.#values.length;
  }

  get values(): readonly string[] {
    return this.#values;
  }

  /** The hashes of all values by code, beginning with code 1. */
  get hashes(): Uint32Array {
    return Uint32Array.from(this.#values, hashOf);
  }

  /** The code of a value, which is added if it is new. */
  add(value: string | undefined): number {
    if (value === undefined) return 0;
    if (value === this.#last) return this.#lastCode; // comparing is faster than hashing
    let code = this.#codes.get(value);
    if (code === undefined) {
      const own = detached(value);
      code = this.#values.push(own);
      this.#codes.set(own, code);
    }
    this.#last = this.#values[code - 1];
    this.#lastCode = code;
    return code;
  }

  codeOf(value: string): number | undefined {
    return this.#codes.get(value);
  }

  valueOf(code: number): string {
    return this.#values[code - 1] as string;
  }

  search(text: string): readonly number[] {
    for (let i = this.#lower.length; i < this.#values.length; i++) {
      this.#lower.push((this.#values[i] as string).toLowerCase());
    }
    const found: number[] = [];
    for (let i = 0; i < this.#lower.length; i++) {
      if ((this.#lower[i] as string).includes(text)) found.push(i + 1);
    }
    return found;
  }
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

  search(text: string): readonly number[] {
    const needle = Buffer.from(text, "utf8");
    const found: number[] = [];
    for (let at = this.#lower.indexOf(needle); at !== -1;) {
      // The value that was found is the first one that ends after the place of the match.
      const index = lowerBound(this.#lowerEnds, at + 1);
      found.push(index + 1);
      at = this.#lower.indexOf(needle, this.#lowerEnds[index] as number);
    }
    return found;
  }
}

/** A copy of a text that may be a part of a long one, which would be kept alive by it. */
export function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** Packs values, of which the first gets code 1. */
export function packDictionary(values: readonly string[], withLower: boolean): Buffer {
  const size = values.length;
  const texts = values.map((value) => Buffer.from(value, "utf8"));
  const end = Buffer.of(SEPARATOR);
  const lower = withLower
    ? values.map((value) => Buffer.concat([Buffer.from(value.toLowerCase(), "utf8"), end]))
    : [];
  const numbers = new Uint32Array(1 + 4 * size);
  numbers[0] = size;
  const hashes = Uint32Array.from(values, hashOf);
  const byHash = Uint32Array.from(values.keys()).sort(
    (a, b) => (hashes[a] as number) - (hashes[b] as number),
  );
  let at = 0;
  let lowerAt = 0;
  for (let i = 0; i < size; i++) {
    const index = byHash[i] as number;
    numbers[1 + i] = hashes[index] as number;
    numbers[1 + size + i] = index + 1;
    numbers[1 + 2 * size + i] = at += texts[i]?.length ?? 0;
    numbers[1 + 3 * size + i] = lowerAt += lower[i]?.length ?? 0;
  }
  return Buffer.concat([Buffer.from(numbers.buffer), ...texts, ...lower]);
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
