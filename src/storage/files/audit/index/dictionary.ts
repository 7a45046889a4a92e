/**
 * The values of one field within one segment. A row has a small number, the code, instead of the text;
 * code 0 stands for an absent field. So a filter compares numbers, and a search tries each distinct text
 * only once.
 *
 * Hundreds of thousands of small strings would burden the garbage collector, so each dictionary of a sealed
 * segment is one block of bytes (for the active segment see `GrowingDictionary`, for one with long texts
 * `StoredDictionary`):
 *
 *     count | hashes, ascending | codes by hash | ends of texts | ends of lower-cased texts |
 *     texts, one after another | lower-cased texts, each followed by a byte FF
 *
 * All numbers are 32 bits wide.
 */
import type { Awaitable } from "../../../../core/caller.ts";
import type { Work } from "../../../../core/scheduling/work.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import { hashesOf, hashOf } from "./hash.ts";
import { lowerBound, sortedByKey } from "./sorting.ts";
import { TextBuffer, encodeTexts } from "./text-buffer.ts";
import { codesHolding } from "./text-finder.ts";

const NUMBER = Uint32Array.BYTES_PER_ELEMENT;
/** The characters that are lower-cased in one part, within some 0.1 ms. */
const PART_CHARACTERS = 64 << 10;
/** The characters that are tested in the time of a call. */
const CALL_CHARACTERS = 64;

/** A test of a value. */
export type ValueTest = (value: string) => boolean;

/** Finds codes by values, and values by codes. */
export interface Dictionary {
  /** The number of values; their codes are 1 to `size`. */
  readonly size: number;
  /** The code of a value; `undefined` if no row has that value. */
  codeOf(value: string): number | undefined;
  /** The codes of the values that pass a test, ascending. */
  matching(test: ValueTest, yielder: Yielder): Awaitable<readonly number[]>;
  /** The value of a code. One that is too long to be listed may be empty instead. */
  listedValueOf(code: number): Awaitable<string>;
}

/** The dictionary of a segment that takes new values. Lower-cased texts are made on first use, or at sealing. */
export class GrowingDictionary implements Dictionary {
  readonly #codes = new Map<string, number>();
  readonly #values: string[] = [];
  readonly #lower = new TextBuffer();
  /** The length of all values. */
  characters = 0;

  get size(): number {
    return this.#values.length;
  }

  /** The values by code, beginning with code 1. */
  get values(): readonly string[] {
    return this.#values;
  }

  /** The code of a value, which is added if it is new. Lone surrogates become U+FFFD, as in UTF-8. */
  add(value: string): number {
    let code = this.#codes.get(value);
    if (code === undefined) {
      const kept = value.toWellFormed();
      code = kept === value ? this.#values.push(value) : this.add(kept);
      this.#codes.set(value, code);
      this.characters += value.length;
    }
    return code;
  }

  codeOf(value: string): number | undefined {
    return this.#codes.get(value);
  }

  listedValueOf(code: number): string {
    return this.#values[code - 1] as string;
  }

  matching(test: ValueTest, yielder: Yielder): Awaitable<readonly number[]> {
    return yielder.run(codesMatching(this, test));
  }

  /** The codes whose lower-cased values contain some bytes, ascending. */
  *search(needle: Buffer): Work<readonly number[]> {
    const { bytes, ends } = yield* this.lowerCased();
    return yield* codesHolding(bytes, ends, needle);
  }

  /** All values in lower case, each followed by a separator. */
  *lowerCased(): Work<TextBuffer> {
    const lower = this.#lower;
    for (let left = PART_CHARACTERS; lower.count < this.size;) {
      const value = this.#values[lower.count] as string;
      lower.addLowerCased(value);
      left -= value.length;
      if (left > 0) continue;
      left = PART_CHARACTERS;
      yield;
    }
    return lower;
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
      if (this.listedValueOf(code) === value) return code;
    }
    return undefined;
  }

  listedValueOf(code: number): string {
    return this.#texts.toString("utf8", this.#ends[code - 2] ?? 0, this.#ends[code - 1]);
  }

  matching(test: ValueTest, yielder: Yielder): Awaitable<readonly number[]> {
    return yielder.run(codesMatching(this, test));
  }

  /** The codes whose lower-cased values contain some bytes, ascending. */
  search(needle: Buffer): Work<readonly number[]> {
    return codesHolding(this.#lower, this.#lowerEnds, needle);
  }
}

/** The codes of the values that pass a test; yields after a number of characters. */
function* codesMatching(
  dictionary: GrowingDictionary | PackedDictionary,
  test: ValueTest,
): Work<readonly number[]> {
  const found: number[] = [];
  let left = PART_CHARACTERS;
  for (let code = 1; code <= dictionary.size; code++) {
    const value = dictionary.listedValueOf(code);
    if (test(value)) found.push(code);
    left -= value.length + CALL_CHARACTERS;
    if (left > 0) continue;
    left = PART_CHARACTERS;
    yield;
  }
  return found;
}

/** Makes the block of a `PackedDictionary`; `isSearched` includes the lower-cased texts. */
export function* packDictionary(
  dictionary: GrowingDictionary,
  isSearched: boolean,
): Work<Uint8Array> {
  const { size, values } = dictionary;
  const hashes = yield* hashesOf(values);
  const texts = yield* encodeTexts(values);
  const lower = isSearched ? yield* dictionary.lowerCased() : new TextBuffer();
  const numbers = new Uint32Array(1 + 4 * size);
  numbers[0] = size;
  sortedByKey(0, size, (i) => hashes[i] as number).forEach((i, place) => {
    numbers[1 + place] = hashes[i] as number;
    numbers[1 + size + place] = i + 1;
  });
  numbers.set(texts.ends, 1 + 2 * size);
  numbers.set(lower.ends, 1 + 3 * size);
  return Buffer.concat([Buffer.from(numbers.buffer), texts.bytes, lower.bytes]);
}
