/** Comparisons over columns: plain loops, since these go through every row of a segment. */
import type { Column } from "./fields.ts";

/** The rows below `rows` that have a code, of which there are `most` at most. */
export function rowsWith(column: Column, code: number, rows: number, most: number): Uint32Array {
  const found = new Uint32Array(Math.min(rows, most));
  let count = 0;
  // The engine's own search is several times as fast as a loop where values are rare.
  let at = column.indexOf(code);
  for (let near = 0; at !== -1 && at < rows && near < 64; at = column.indexOf(code, at + 1)) {
    const last = found[count - 1] ?? -64;
    near = at - last < 32 ? near + 1 : 0;
    found[count++] = at;
  }
  if (at === -1) return found.subarray(0, count);
  for (; at < rows; at++) {
    if (column[at] === code) found[count++] = at;
  }
  return found.subarray(0, count);
}

/** Keeps those rows of a list that have a code; the list is overwritten. */
export function keepCode(rows: Uint32Array, column: Column, code: number): Uint32Array {
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    if (column[row] === code) rows[count++] = row;
  }
  return rows.subarray(0, count);
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

/** The rows below `rows` whose code is wanted. */
export function rowsWanted(column: Column, wanted: Uint8Array, rows: number): Uint32Array {
  const found = new Uint32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    if (wanted[column[row] as number] === 1) found[count++] = row;
  }
  return found.subarray(0, count);
}

const CHUNK = 4096;
/** Codes of any width as numbers of 32 bits: the loop over them is compiled for one kind of array. */
const codes = new Uint32Array(CHUNK);

/** Sets the bit of each row below `rows` whose code is wanted (1 in `wanted`); code 0 never is. */
export function addBits(bits: Uint32Array, column: Column, wanted: Uint8Array, rows: number): void {
  for (let start = 0; start < rows; start += CHUNK) {
    const count = Math.min(CHUNK, rows - start);
    codes.set(column.subarray(start, start + count));
    codes.fill(0, count, count + 7);
    addChunk(bits, start, count, wanted);
  }
}

function addChunk(bits: Uint32Array, start: number, count: number, wanted: Uint8Array): void {
  for (let i = 0; i < count; i += 8) {
    // Without a branch, which would go either way at random.
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
