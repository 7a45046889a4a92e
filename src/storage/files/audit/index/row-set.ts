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

  /** The rows whose bit is 1, that of row 0 being the lowest of the first word; the set keeps them. */
  static ofBits(bits: Uint32Array): RowSet {
    const count = countBits(bits);
    if (count === 0) return RowSet.none;
    if (count > bits.length) return new RowSet(undefined, bits, count);
    return new RowSet(listOf(bits, count), undefined, count);
  }

  /** The rows of an ascending list, which the set keeps. */
  static ofList(list: Uint32Array): RowSet {
    return list.length === 0 ? RowSet.none : new RowSet(list, undefined, list.length);
  }

  /** Bytes that it takes in memory, about. */
  get bytes(): number {
    return 64 + (this.#list?.byteLength ?? 0) + (this.#bits?.byteLength ?? 0);
  }

  /** The rows as a list of its own, which may be changed. */
  toList(): Uint32Array {
    return this.#bits === undefined
      ? (this.#list as Uint32Array).slice()
      : listOf(this.#bits, this.count);
  }

  /** Those of some rows that are in the set. */
  among(rows: Uint32Array): Uint32Array {
    const bits = this.#bits;
    if (bits !== undefined) {
      return rows.filter((row) => (((bits[row >>> 5] as number) >>> (row & (WORD - 1))) & 1) === 1);
    }
    const list = new Set(this.#list);
    return rows.filter((row) => list.has(row));
  }
}

/** Words enough for a bit for each of some rows, all 0. */
export function noBits(rows: number): Uint32Array {
  return new Uint32Array(Math.ceil(rows / WORD));
}

/** How many bits are 1. */
export function countBits(bits: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i] as number;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}

function listOf(bits: Uint32Array, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let word = 0, at = 0; at < count; word++) {
    for (let left = bits[word] as number; left !== 0; left &= left - 1) {
      rows[at++] = word * WORD + 31 - Math.clz32(left & -left);
    }
  }
  return rows;
}
