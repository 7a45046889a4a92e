/**
 * An immutable set of rows of one segment that were found by their text. A small set is a list; otherwise it has a
 * bit for each row of the segment, so a set takes at most an eighth of a byte for each row.
 */
import type { Work } from "../../../../core/scheduling/work.ts";
import type { Column } from "./fields.ts";

const WORD = 32;
/** The words, of 4,096 rows, that are read in one part: code that is not compiled yet takes half a millisecond. */
const WORDS_AT_ONCE = 128;

/** Some rows of a segment, ascending. */
export class RowSet {
  static readonly none = new RowSet(new Uint32Array(0), undefined, 0);
  readonly count: number;
  readonly #list: Uint32Array | undefined;
  readonly #bits: Uint32Array | undefined;

  private constructor(list: Uint32Array | undefined, bits: Uint32Array | undefined, count: number) {
    this.#list = list;
    this.#bits = bits;
    this.count = count;
  }

  /** The rows whose bit is 1; row 0 has the lowest bit of the first word. The set keeps the array. */
  static *ofBits(bits: Uint32Array): Work<RowSet> {
    const count = yield* countBits(bits);
    if (count === 0) return RowSet.none;
    if (count > bits.length) return new RowSet(undefined, bits, count);
    return new RowSet(yield* listOf(bits, count), undefined, count);
  }

  /** The rows of an ascending list. The set keeps the array. */
  static ofList(list: Uint32Array): RowSet {
    return list.length === 0 ? RowSet.none : new RowSet(list, undefined, list.length);
  }

  /** The approximate size in memory, in bytes. */
  get bytes(): number {
    return 64 + (this.#list?.byteLength ?? 0) + (this.#bits?.byteLength ?? 0);
  }

  /** The rows as a new list, which the caller may change. */
  *toList(): Work<Uint32Array> {
    if (this.#bits === undefined) return (this.#list as Uint32Array).slice();
    return yield* listOf(this.#bits, this.count);
  }

  /** The given rows that are in the set. */
  among(rows: Uint32Array): Uint32Array {
    const bits = this.#bits;
    if (bits !== undefined) {
      return rows.filter((row) => (((bits[row >>> 5] as number) >>> (row & (WORD - 1))) & 1) === 1);
    }
    const list = new Set(this.#list);
    return rows.filter((row) => list.has(row));
  }
}

/** Words with a bit for each of some rows, all 0. */
export function noBits(rows: number): Uint32Array {
  return new Uint32Array(Math.ceil(rows / WORD));
}

/** The number of bits that are 1. */
export function* countBits(bits: Uint32Array): Work<number> {
  let count = 0;
  for (let from = 0; from < bits.length; from += WORDS_AT_ONCE) {
    count += countIn(bits.subarray(from, from + WORDS_AT_ONCE));
    yield;
  }
  return count;
}

function countIn(bits: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i] as number;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

function* listOf(bits: Uint32Array, count: number): Work<Uint32Array> {
  const rows = new Uint32Array(count);
  for (let from = 0, at = 0; at < count; from += WORDS_AT_ONCE) {
    at = addRows(rows, at, bits, from);
    yield;
  }
  return rows;
}

/** Adds the rows of some words to a list from a place on; returns the place after them. */
function addRows(rows: Uint32Array, place: number, bits: Uint32Array, from: number): number {
  let at = place;
  const end = Math.min(bits.length, from + WORDS_AT_ONCE);
  for (let word = from; word < end; word++) {
    for (let left = bits[word] as number; left !== 0; left &= left - 1) {
      rows[at++] = word * WORD + 31 - Math.clz32(left & -left);
    }
  }
  return at;
}

/** The rows below `rows` that have a code, ascending; fast if few rows have it. */
export function rowsWithCode(column: Column, code: number, rows: number): Uint32Array {
  const found: number[] = [];
  let at = column.indexOf(code); // native, and several times as fast as a loop
  for (; at !== -1 && at < rows; at = column.indexOf(code, at + 1)) found.push(at);
  return Uint32Array.from(found);
}

/** Keeps those rows of a list whose code is wanted (1 in `wanted`); the list is overwritten. */
export function keepWanted(rows: Uint32Array, column: Column, wanted: Uint8Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    if (wanted[column[row] as number] === 1) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

/** A byte for each code up to the greatest one, 1 for those in a list. */
export function marksOf(codes: readonly number[], greatest: number): Uint8Array {
  const marks = new Uint8Array(greatest + 1);
  for (const code of codes) marks[code] = 1;
  return marks;
}

const CHUNK = WORDS_AT_ONCE * WORD;

/** Sets the bit of each row below `rows` whose code is wanted (1 in `wanted`). */
export function* addBits(
  bits: Uint32Array,
  column: Column,
  wanted: Uint8Array,
  rows: number,
): Work<void> {
  // Codes of any width are copied to 32-bit numbers, so that the loop is compiled for one kind of array.
  const codes = new Uint32Array(CHUNK);
  for (let start = 0; start < rows; start += CHUNK) {
    const count = Math.min(CHUNK, rows - start);
    codes.set(column.subarray(start, start + count));
    addChunk(bits, start, count, codes, wanted);
    yield;
  }
  // After the last row, the last group of eight has codes of the previous chunk: clear their bits.
  if (rows % 32 !== 0) bits[rows >>> 5] = (bits[rows >>> 5] as number) & ~(-1 << (rows & 31));
}

function addChunk(
  bits: Uint32Array,
  start: number,
  count: number,
  codes: Uint32Array,
  wanted: Uint8Array,
): void {
  for (let i = 0; i < count; i += 8) {
    // Without a branch, which would be unpredictable. Unrolled, the loop takes half the time.
    let found = wanted[codes[i] as number] as number;
    found |= (wanted[codes[i + 1] as number] as number) << 1;
    found |= (wanted[codes[i + 2] as number] as number) << 2;
    found |= (wanted[codes[i + 3] as number] as number) << 3;
    found |= (wanted[codes[i + 4] as number] as number) << 4;
    found |= (wanted[codes[i + 5] as number] as number) << 5;
    found |= (wanted[codes[i + 6] as number] as number) << 6;
    found |= (wanted[codes[i + 7] as number] as number) << 7;
    const word = (start + i) >>> 5;
    bits[word] = (bits[word] as number) | (found << (i & 31));
  }
}
