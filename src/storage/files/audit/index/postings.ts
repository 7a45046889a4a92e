/**
 * For each value of a field, the rows that have it, in the order of time: the answer to a filter, read
 * off without comparing anything. A list is written as the steps from one row to the next, in groups
 * of seven bits of which the last one has its high bit clear; late events make a step go back, so the
 * sign is the lowest bit. A row takes one to two bytes that way.
 *
 * A value that a quarter of all rows have needs no list: going through the column is as quick.
 */
import type { Column } from "./fields.ts";

const COMMON = 4;
const MORE = 0x80;
const STEP_BITS = 7;

/** The lists of one field, as they lie in a sidecar. */
export interface PackedPostings {
  /** Where the list of each code begins in `steps`, and after the last where one more would. */
  readonly starts: Uint32Array;
  readonly steps: Uint8Array;
}

/** Whether so many rows of a segment are too many for a list. */
function isCommon(count: number, rows: number): boolean {
  return count * COMMON > rows;
}

/**
 * Writes the lists of a field.
 *
 * @param counts how many rows have each code
 * @param order the rows by time; `undefined` when they came in that order
 */
export function packPostings(
  column: Column,
  counts: Uint32Array,
  order: Uint32Array | undefined,
  rows: number,
): PackedPostings {
  const starts = new Uint32Array(counts.length + 1);
  const last = new Int32Array(counts.length);
  for (let i = 0; i < rows; i++) {
    const row = order === undefined ? i : (order[i] as number);
    const code = column[row] as number;
    if (code === 0 || isCommon(counts[code] as number, rows)) continue;
    starts[code + 1] =
      (starts[code + 1] as number) + encodedBytes(stepTo(row, last[code] as number));
    last[code] = row;
  }
  for (let code = 1; code < starts.length; code++) {
    starts[code] = (starts[code] as number) + (starts[code - 1] as number);
  }
  const steps = new Uint8Array(starts[counts.length] as number);
  const ends = starts.slice();
  last.fill(0);
  for (let i = 0; i < rows; i++) {
    const row = order === undefined ? i : (order[i] as number);
    const code = column[row] as number;
    if (code === 0 || isCommon(counts[code] as number, rows)) continue;
    ends[code] = write(steps, ends[code] as number, stepTo(row, last[code] as number));
    last[code] = row;
  }
  return { starts, steps };
}

/** A step with its sign in the lowest bit. */
function stepTo(row: number, last: number): number {
  const step = row - last;
  return step < 0 ? -2 * step - 1 : 2 * step;
}

function encodedBytes(step: number): number {
  let length = 1;
  for (let left = step >>> STEP_BITS; left > 0; left >>>= STEP_BITS) length++;
  return length;
}

function write(steps: Uint8Array, at: number, step: number): number {
  let end = at;
  let left = step;
  for (; left >= MORE; left >>>= STEP_BITS) steps[end++] = (left & (MORE - 1)) | MORE;
  steps[end++] = left;
  return end;
}

/** Reads the lists of one field. */
export class Postings {
  readonly #starts: Uint32Array;
  readonly #steps: Uint8Array;
  readonly #counts: Uint32Array;

  constructor(starts: Uint32Array, steps: Uint8Array, counts: Uint32Array) {
    this.#starts = starts;
    this.#steps = steps;
    this.#counts = counts;
  }

  /** The rows that have a code, the oldest first; `undefined` when they are too many for a list. */
  rowsOf(code: number): Uint32Array | undefined {
    const count = this.#counts[code] as number;
    let at = this.#starts[code] as number;
    if (at === this.#starts[code + 1] && count > 0) return undefined;
    const rows = new Uint32Array(count);
    const steps = this.#steps;
    let row = 0;
    for (let i = 0; i < count; i++) {
      let byte = steps[at++] as number;
      let step = byte & (MORE - 1);
      for (let shift = STEP_BITS; byte >= MORE; shift += STEP_BITS) {
        byte = steps[at++] as number;
        step |= (byte & (MORE - 1)) << shift;
      }
      row += (step & 1) === 1 ? -((step + 1) >>> 1) : step >>> 1;
      rows[i] = row;
    }
    return rows;
  }
}
