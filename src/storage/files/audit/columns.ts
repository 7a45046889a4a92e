/** Comparisons over columns: plain loops, since these go through every row of a segment. */
import type { Column } from "./segment-index.ts";

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

/** Puts a 1 into `marks` for each row whose code is one of some. */
export function markCodes(column: Column, codes: readonly number[], marks: Uint8Array): void {
  const [only] = codes;
  if (codes.length === 1) {
    const rows = rowsWith(column, only as number, marks.length, marks.length);
    for (let i = 0; i < rows.length; i++) marks[rows[i] as number] = 1;
    return;
  }
  let greatest = 0;
  for (const code of codes) greatest = Math.max(greatest, code);
  const wanted = new Uint8Array(greatest + 1);
  for (const code of codes) wanted[code] = 1;
  for (let row = 0; row < marks.length; row++) {
    if (wanted[column[row] as number] === 1) marks[row] = 1;
  }
}
