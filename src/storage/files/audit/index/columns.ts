/** Comparisons over columns: plain loops, since these go through every row of a segment. */
import type { Column } from "./fields.ts";

/** The rows below `rows` that have a code, ascending; quick where few rows have it. */
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

const CHUNK = 4096;

/** Sets the bit of each row below `rows` whose code is wanted (1 in `wanted`). */
export function addBits(bits: Uint32Array, column: Column, wanted: Uint8Array, rows: number): void {
  // Codes of any width as numbers of 32 bits: the loop over them is compiled for one kind of array.
  const codes = new Uint32Array(CHUNK);
  for (let start = 0; start < rows; start += CHUNK) {
    const count = Math.min(CHUNK, rows - start);
    codes.set(column.subarray(start, start + count));
    addChunk(bits, start, count, codes, wanted);
  }
  // The last group of eight has codes of the chunk before where no rows are left.
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
    // Without a branch, which would go either way at random; unrolled, it takes half the time.
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
