/**
 * Finds events by their id: by the hashes in every segment's index and, at ingest, by a table of the newest
 * hashes in memory. A hash only finds candidates; the id in the line decides.
 */
import { MOST_OF_ID } from "../../../../audit/store.ts";
import type { Slice } from "../../../segment-reader.ts";
import { hashOf } from "../index/hash.ts";
import { PAGE_BYTES } from "../sidecar/format.ts";
import { SidecarDamaged } from "../sidecar/on-demand-sections.ts";
import { globalRow, localRow, segmentOf } from "../index/segment-index.ts";
import type { GlobalRow, LocalRow, SegmentIndex } from "../index/segment-index.ts";
import type { SegmentSet } from "../segment-set.ts";
import { idOf } from "./lines.ts";

/** The ids of the newest events. */
export async function recentIdsOf(segments: SegmentSet): Promise<RecentIds> {
  for (;;) {
    try {
      return await collectIds(segments.indexes);
    } catch (error) {
      if (!(error instanceof SidecarDamaged)) throw error;
      await segments.remake(error.segment);
    }
  }
}

async function collectIds(indexes: readonly SegmentIndex[]): Promise<RecentIds> {
  const ids = new RecentIds();
  let left = KNOWN_IDS;
  for (const index of [...indexes].reverse()) {
    if (left <= 0) break;
    const first = Math.max(0, index.rows - left);
    left -= index.rows;
    await index.eachId(first, (hash, row) => ids.add(hash, globalRow(index.segment, row)));
  }
  return ids;
}

/** The place of a row's line; `undefined` if its segment was removed. */
export function lineOf(segments: SegmentSet, row: GlobalRow): Slice | undefined {
  const segment = segmentOf(row);
  const index = segments.find(segment);
  if (index === undefined) return undefined;
  const offset = index.offsets[localRow(row)] as number;
  return { segment, offset, length: (index.offsets[localRow(row) + 1] as number) - offset };
}

/**
 * The rows that may have an id, in the order of ingest. Reporters may have used one id for several
 * events, so the table of the newest events cannot say which of them was stored first.
 */
export async function* rowsOfId(segments: SegmentSet, id: string): AsyncGenerator<GlobalRow> {
  const hash = hashOf(id);
  // With a buffer for each segment, most of a look-up's time was garbage collection.
  const room = Buffer.allocUnsafeSlow(2 * PAGE_BYTES);
  for (const index of segments.indexes) {
    const rows = [...(await index.rowsOfId(hash, room))];
    for (const row of rows.sort((a, b) => a - b)) yield globalRow(index.segment, row);
  }
}

/** An event's line, and its row. */
export interface PlacedLine {
  readonly row: GlobalRow;
  readonly line: Buffer;
}

/** The lines of the events with an id, the one stored first first. */
export async function linesOfId(
  segments: SegmentSet,
  id: string,
  read: (rows: readonly GlobalRow[]) => Promise<readonly Buffer[]>,
): Promise<readonly PlacedLine[]> {
  const found: PlacedLine[] = [];
  for await (const row of rowsOfId(segments, id)) {
    const [line] = await read([row]);
    if (line === undefined || idOf(line) !== id) continue;
    if (found.push({ row, line }) === MOST_OF_ID) break;
  }
  return found;
}

/** The next rows after a row: at most `count` of them, with at most `bytes` in all, and at least one row if there is any. */
export function rowsAfter(
  indexes: readonly SegmentIndex[],
  row: GlobalRow,
  count: number,
  bytes: number,
): readonly GlobalRow[] {
  const rows: GlobalRow[] = [];
  let left = bytes;
  for (const index of indexes) {
    if (index.segment < segmentOf(row)) continue;
    const first = index.segment === segmentOf(row) ? localRow(row) + 1 : 0;
    for (let i = first; i < index.rows && rows.length < count; i++) {
      left -= (index.offsets[i + 1] as number) - (index.offsets[i] as number);
      if (left < 0 && rows.length > 0) return rows;
      rows.push(globalRow(index.segment, i as LocalRow));
    }
  }
  return rows;
}

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
