/**
 * Finds events by their id: by the hashes in every segment's index and, at ingest, by a table of the newest
 * hashes in memory. A hash only finds candidates; the id in the line decides.
 */
import { MOST_OF_ID } from "../../../../audit/store.ts";
import type { Slice } from "../../../segment-reader.ts";
import { hashOf } from "../index/hash.ts";
import { PAGE_BYTES } from "../sidecar/format.ts";
import { globalRow, localRow, segmentOf, sliceOf } from "../index/segment-index.ts";
import type { GlobalRow, LocalRow, SegmentIndex } from "../index/segment-index.ts";
import type { SegmentSet } from "../segment-set.ts";
import { idOf } from "./lines.ts";
import { KNOWN_IDS, RecentIds } from "./recent-ids.ts";

/** The ids of the newest events. */
export function recentIdsOf(segments: SegmentSet): Promise<RecentIds> {
  return segments.read(collectIds);
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
  const index = segments.find(segmentOf(row));
  return index && sliceOf(index, localRow(row));
}

/**
 * The rows that may have an id, in the order of ingest. Reporters may have used one id for several
 * events, so the table of the newest events cannot say which of them was stored first.
 */
async function* rowsOfId(segments: SegmentSet, id: string): AsyncGenerator<GlobalRow> {
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

/** The lines of the events with an id, in the order of ingest. */
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
