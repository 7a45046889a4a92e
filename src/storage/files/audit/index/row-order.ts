/**
 * The rows of the active segment by time. While events come in order there is no list. Once an event is
 * late, a list of rows exists: new rows are sorted among themselves and merged in from the end, so the
 * work grows with their delay, not with the length of the list. A list that a query has taken is only
 * extended; a merge into it works on a copy.
 */
const MERGE_ROWS = 4096;

/** Keeps the order of rows by time. */
export class RowOrder {
  #list: Uint32Array | undefined;
  #merged = 0;
  #isTaken = false;
  #isSorted = true;

  /** Adds the next row. */
  add(times: Float64Array, row: number): void {
    if (row === 0) return;
    if ((times[row] as number) < (times[row - 1] as number)) this.#isSorted = false;
    if (!this.#isSorted && row - this.#merged >= MERGE_ROWS) this.#merge(times, row);
  }

  /** All rows below `rows`, oldest first; `undefined` when they came in that order. */
  take(times: Float64Array, rows: number): Uint32Array | undefined {
    if (this.#isSorted) return undefined;
    this.#merge(times, rows);
    this.#isTaken = true;
    return (this.#list as Uint32Array).subarray(0, rows);
  }

  #merge(times: Float64Array, rows: number): void {
    const merged = this.#merged;
    if (merged === rows) return;
    const list = this.#writable(rows);
    const fresh = sortedRows(times, merged, rows);
    const timeOf = (row: number | undefined): number => times[row as number] as number;
    const isInPlace = merged === 0 || timeOf(list[merged - 1]) <= timeOf(fresh[0]);
    if (isInPlace) list.set(fresh, merged);
    else {
      const target = this.#isTaken ? list.slice() : list;
      mergeFromEnd(target, merged, fresh, times);
      this.#list = target;
      this.#isTaken = false;
    }
    this.#merged = rows;
  }

  #writable(rows: number): Uint32Array {
    let list = this.#list;
    if (list === undefined || list.length < rows) {
      const longer = new Uint32Array(Math.max(MERGE_ROWS, rows * 2));
      if (list !== undefined) longer.set(list.subarray(0, this.#merged));
      this.#list = list = longer;
      this.#isTaken = false;
    }
    return list;
  }
}

/** The rows from one up to another by time, equal times by row. */
function sortedRows(times: Float64Array, from: number, to: number): Uint32Array {
  const rows = new Uint32Array(to - from);
  let [least, most] = [Infinity, -Infinity];
  for (let row = from; row < to; row++) {
    rows[row - from] = row;
    least = Math.min(least, times[row] as number);
    most = Math.max(most, times[row] as number);
  }
  if ((most - least + 1) * rows.length > Number.MAX_SAFE_INTEGER) {
    return rows.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  }
  // Time and row in one number: sorted without calling back, several times as fast.
  const keys = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    keys[i] = ((times[from + i] as number) - least) * rows.length + i;
  }
  keys.sort();
  for (let i = 0; i < rows.length; i++) rows[i] = from + ((keys[i] as number) % rows.length);
  return rows;
}

function mergeFromEnd(
  list: Uint32Array,
  merged: number,
  fresh: Uint32Array,
  times: Float64Array,
): void {
  let old = merged - 1;
  let at = merged + fresh.length - 1;
  for (let i = fresh.length - 1; i >= 0; at--) {
    const row = fresh[i] as number;
    const isOlder = old >= 0 && (times[list[old] as number] as number) > (times[row] as number);
    if (isOlder) list[at] = list[old--] as number;
    else {
      list[at] = row;
      i--;
    }
  }
}
