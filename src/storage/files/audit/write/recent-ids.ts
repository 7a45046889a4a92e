import type { GlobalRow } from "../index/segment-index.ts";

/** The least number of newest ids that are known; at most twice as many are. */
export const KNOWN_IDS = 100_000;

/**
 * The most events of equal hash in a generation. By chance there are hardly ever two. A client can make more
 * on purpose, and for every later one each of their lines would be read.
 */
const MOST_ALIKE = 32;
const FIRST_SLOTS = 64;
const NO_ROWS: readonly GlobalRow[] = [];

/**
 * Finds the newest events by the hash of their id. There are two generations, each a hash table. When the
 * younger one is full, the older one is dropped as a whole, so forgetting an id costs nothing. With the
 * hash alone, 16 bytes an event are enough for ids of any length.
 */
export class RecentIds {
  readonly #limit: number;
  #young = new Generation();
  #old = new Generation();

  constructor(limit = KNOWN_IDS) {
    this.#limit = limit;
  }

  /** The rows, all greater than 0, that may have the id with that hash. */
  rowsOf(hash: number): readonly GlobalRow[] {
    const young = this.#young.rowsOf(hash);
    const old = this.#old.rowsOf(hash);
    return old.length === 0 ? young : [...young, ...old];
  }

  add(hash: number, row: GlobalRow): void {
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.add(hash, row);
  }
}

/** Pairs of hash and row, in the first free slot from the hash on; half of the slots are free. */
class Generation {
  size = 0;
  #hashes = new Uint32Array(FIRST_SLOTS);
  #rows = new Float64Array(FIRST_SLOTS); // 0 marks a free slot

  rowsOf(hash: number): readonly GlobalRow[] {
    const mask = this.#rows.length - 1;
    let found: GlobalRow[] | undefined;
    for (let slot = hash & mask; this.#rows[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] === hash) (found ??= []).push(this.#rows[slot] as GlobalRow);
    }
    return found ?? NO_ROWS;
  }

  add(hash: number, row: GlobalRow): void {
    if (2 * this.size >= this.#rows.length) this.#widen();
    this.#put(hash, row);
    this.size++;
  }

  #put(hash: number, row: GlobalRow): void {
    const mask = this.#rows.length - 1;
    let slot = hash & mask;
    for (let alike = 0; this.#rows[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#hashes[slot] === hash && ++alike === MOST_ALIKE) return;
    }
    this.#hashes[slot] = hash;
    this.#rows[slot] = row;
  }

  #widen(): void {
    const hashes = this.#hashes;
    const rows = this.#rows;
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#rows = new Float64Array(rows.length * 2);
    for (let slot = 0; slot < rows.length; slot++) {
      if (rows[slot] !== 0) this.#put(hashes[slot] as number, rows[slot] as GlobalRow);
    }
  }
}
