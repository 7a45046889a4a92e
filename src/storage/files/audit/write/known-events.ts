/**
 * Finds events by their id, by the hashes that every segment's index keeps and, at ingest, by a table of
 * the newest hashes in memory. A hash only says where to look; the id in the line decides.
 */
import type { Slice } from "../../../segment-reader.ts";
import { hashOf } from "../index/hash.ts";
import { KNOWN_IDS, RecentIds } from "./recent-ids.ts";
import { SidecarDamaged } from "../sidecar/on-demand-sections.ts";
import { globalRow, rowOf, segmentOf, type SegmentIndex } from "../index/segment-index.ts";
import type { SegmentSet } from "../segment-set.ts";

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

/** Where the line of a row stands; `undefined` when its segment is gone. */
export function lineOf(segments: SegmentSet, row: number): Slice | undefined {
  const segment = segmentOf(row);
  const index = segments.find(segment);
  if (index === undefined) return undefined;
  const offset = index.offsets[rowOf(row)] as number;
  return { segment, offset, length: (index.offsets[rowOf(row) + 1] as number) - offset };
}

/**
 * The rows that may have an id, in the order of ingest. Reporters may have used one id for several
 * events, so the table of the newest events cannot say which of them was stored first.
 */
export async function* rowsOfId(segments: SegmentSet, id: string): AsyncGenerator<number> {
  const hash = hashOf(id);
  for (const index of segments.indexes) {
    const rows = [...(await index.rowsOfId(hash))];
    for (const row of rows.sort((a, b) => a - b)) yield globalRow(index.segment, row);
  }
}

/** The next rows after a row: at most `count` of them, with at most `bytes` in all, and at least one row if there is any. */
export function rowsAfter(
  indexes: readonly SegmentIndex[],
  row: number,
  count: number,
  bytes: number,
): readonly number[] {
  const rows: number[] = [];
  let left = bytes;
  for (const index of indexes) {
    if (index.segment < segmentOf(row)) continue;
    const first = index.segment === segmentOf(row) ? rowOf(row) + 1 : 0;
    for (let i = first; i < index.rows && rows.length < count; i++) {
      left -= (index.offsets[i + 1] as number) - (index.offsets[i] as number);
      if (left < 0 && rows.length > 0) return rows;
      rows.push(globalRow(index.segment, i));
    }
  }
  return rows;
}
