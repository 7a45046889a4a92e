/**
 * Rows of one segment that were found by their text. Few of them are a list, many are a bit for each
 * row of the segment, so a set takes an eighth of a byte for each row at most. It never changes.
 */
const WORD = 32;

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

  /** The rows whose byte is 1. */
  static ofMarks(marks: Uint8Array): RowSet {
    let count = 0;
    for (let row = 0; row < marks.length; row++) count += marks[row] as number;
    if (count === 0) return RowSet.none;
    if (count > marks.length / WORD) return new RowSet(undefined, bitsOf(marks), count);
    return new RowSet(listOf(marks, count), undefined, count);
  }

  /** Bytes that it takes in memory, about. */
  get bytes(): number {
    return 64 + (this.#list?.byteLength ?? 0) + (this.#bits?.byteLength ?? 0);
  }

  /** The rows as a list of its own, which may be changed. */
  toList(): Uint32Array {
    if (this.#bits === undefined) return (this.#list as Uint32Array).slice();
    const rows = new Uint32Array(this.count);
    for (let word = 0, at = 0; at < this.count; word++) {
      for (let left = this.#bits[word] as number; left !== 0; left &= left - 1) {
        rows[at++] = word * WORD + 31 - Math.clz32(left & -left);
      }
    }
    return rows;
  }
}

function listOf(marks: Uint8Array, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let row = marks.indexOf(1), at = 0; at < count; row = marks.indexOf(1, row + 1)) {
    rows[at++] = row;
  }
  return rows;
}

function bitsOf(marks: Uint8Array): Uint32Array {
  const bits = new Uint32Array(Math.ceil(marks.length / WORD));
  for (let row = 0; row < marks.length; row++) {
    const word = row >>> 5;
    bits[word] = (bits[word] as number) | ((marks[row] as number) << (row & (WORD - 1)));
  }
  return bits;
}
