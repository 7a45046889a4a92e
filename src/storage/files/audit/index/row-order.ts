/**
 * The rows of the active segment by time. While events come in order, no list exists. The first late event
 * creates a list; later rows are sorted among themselves and merged into it. A merge happens after
 * `MERGE_ROWS` rows, or when a query needs it. Invariant: a list never changes, so a query may keep it.
 */
import { sortedByKey } from "./sorting.ts";

const MERGE_ROWS = 4096;

/** Keeps the order of rows by time. */
export class RowOrder {
  #list = new Uint32Array(0);
  #isSorted = true;

  /** Adds the next row. */
  add(times: Float64Array, row: number): void {
    if (row === 0) return;
    if ((times[row] as number) < (times[row - 1] as number)) this.#isSorted = false;
    if (!this.#isSorted && row - this.#list.length >= MERGE_ROWS) this.#merge(times, row);
  }

  /** All rows below `rows`, oldest first; `undefined` when they came in that order. */
  take(times: Float64Array, rows: number): Uint32Array | undefined {
    if (this.#isSorted) return undefined;
    if (this.#list.length < rows) this.#merge(times, rows);
    return this.#list;
  }

  #merge(times: Float64Array, rows: number): void {
    const old = this.#list;
    const timeOf = (row: number | undefined): number => times[row as number] as number;
    const fresh = sortedByKey(old.length, rows, timeOf);
    const merged = new Uint32Array(rows);
    // Events are only a little late, so most of the list stays as it is.
    let i = old.length;
    while (i > 0 && timeOf(old[i - 1]) > timeOf(fresh[0])) i--;
    merged.set(old.subarray(0, i));
    for (let j = 0; i + j < rows;) {
      const isOld = j === fresh.length || (i < old.length && timeOf(old[i]) <= timeOf(fresh[j]));
      merged[i + j] = (isOld ? old[i] : fresh[j]) as number;
      if (isOld) i++;
      else j++;
    }
    this.#list = merged;
  }
}
