/**
 * The rows of a segment in which a text occurs. Dictionaries answer for four of the five fields. The
 * commands are asked block by block: those whose filter of trigrams rules the text out are skipped,
 * the others are read in runs and searched in one go; what is found is traced back to its row.
 *
 * The text is searched as Latin-1, each byte of its UTF-8 a character, since the engine searches such
 * strings fastest; the bytes of UTF-8 only ever match where the characters do.
 */
import type { Pace } from "./pace.ts";
import { SEARCHED, type Column, type SegmentIndex } from "./segment-index.ts";
import { bitsOf, BLOCK_ROWS, FILTER_BYTES, mayHold } from "./trigrams.ts";

const READ_ROWS = 16 * BLOCK_ROWS;

/** Finds the rows below `rows` in which `q` occurs in any letter case, in the order of ingest. */
export async function rowsHolding(
  index: SegmentIndex,
  rows: number,
  q: string,
  pace: Pace,
): Promise<Uint32Array> {
  const lower = q.toLowerCase();
  let found: Uint8Array | undefined; // most segments have nothing, and need no list then
  for (const field of SEARCHED) {
    const codes = index.dictionaries[field]?.search(lower) ?? [];
    if (codes.length === 0) continue;
    found ??= new Uint8Array(rows);
    markCodes(index.codes[field] as Column, codes, found);
    if (pace.isDue) await pace.step();
  }
  const needle = Buffer.from(lower, "utf8");
  for (const [first, end] of runsOf(index, rows, bitsOf(needle))) {
    const from = index.textStarts[first] as number;
    const text = index.text(from, index.textStarts[end] as number);
    const read = typeof text === "string" ? text : await text;
    found ??= new Uint8Array(rows);
    markText(read, needle.toString("latin1"), index.textStarts, first, from, found);
    if (pace.isDue) await pace.step();
  }
  if (pace.isDue) await pace.step();
  return found === undefined ? new Uint32Array(0) : rowsMarked(found);
}

function markCodes(column: Column, codes: readonly number[], found: Uint8Array): void {
  const [only] = codes;
  if (codes.length === 1) {
    for (let row = column.indexOf(only as number); row !== -1 && row < found.length;) {
      found[row] = 1;
      row = column.indexOf(only as number, row + 1);
    }
    return;
  }
  const isWanted = new Uint8Array(Math.max(...codes) + 1);
  for (const code of codes) isWanted[code] = 1;
  for (let row = 0; row < found.length; row++) {
    if (isWanted[column[row] as number] === 1) found[row] = 1;
  }
}

/** Runs of rows in whose blocks the text may stand; rows of a block that is not full always may. */
function* runsOf(
  index: SegmentIndex,
  rows: number,
  bits: Uint16Array,
): Generator<readonly [number, number]> {
  const filtered = Math.min(index.filteredRows, rows);
  let start = -1;
  for (let row = 0; row < rows; row += BLOCK_ROWS) {
    const isFiltered = row + BLOCK_ROWS <= filtered;
    const may = !isFiltered || mayHold(index.filters, (row / BLOCK_ROWS) * FILTER_BYTES, bits);
    if (start !== -1 && (!may || row - start >= READ_ROWS)) {
      yield [start, row];
      start = -1;
    }
    if (may && start === -1) start = row;
  }
  if (start !== -1) yield [start, rows];
}

function markText(
  text: string,
  needle: string,
  starts: Uint32Array,
  first: number,
  from: number,
  found: Uint8Array,
): void {
  let row = first;
  for (let at = text.indexOf(needle); at !== -1;) {
    while ((starts[row + 1] as number) - from <= at) row++;
    found[row] = 1;
    at = text.indexOf(needle, (starts[++row] as number) - from);
  }
}

function rowsMarked(found: Uint8Array): Uint32Array {
  let count = 0;
  for (let row = 0; row < found.length; row++) count += found[row] as number;
  const rows = new Uint32Array(count);
  for (let row = 0, at = 0; at < count; row++) {
    if (found[row] === 1) rows[at++] = row;
  }
  return rows;
}
