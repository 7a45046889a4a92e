/**
 * Finds an event by its id: the newest ids are known by heart, the others by the hashes that every
 * segment's index keeps. A hash only says where to look; the id in the line decides.
 */
import type { SegmentedLog } from "../../segmented-log.ts";
import { detached } from "./dictionary.ts";
import { hashOf } from "./hash.ts";
import { idOf } from "./lines.ts";
import { RecentIds } from "./recent-ids.ts";
import { globalRow, rowOf, segmentOf, type SegmentIndex } from "./segment-index.ts";
import type { SegmentSet } from "./segment-set.ts";

/** So many of the newest ids are read back at start. */
const REMEMBERED = 100_000;

/** The rows of the newest events by their ids. */
export async function readRecentIds(
  log: SegmentedLog,
  segments: SegmentSet,
): Promise<RecentIds<number>> {
  const ids = new RecentIds<number>(REMEMBERED);
  let start = segments.indexes.length;
  for (let rows = 0; start > 0 && rows < REMEMBERED;) rows += segments.indexes[--start]?.rows ?? 0;
  for (const index of segments.indexes.slice(start)) {
    let row = 0;
    await log.readLines(index.segment, (line, offset) => {
      if (row >= index.rows || index.offsets[row] !== offset) return; // no event, so it has no row
      const id = idOf(line);
      if (id !== undefined) ids.set(detached(id), globalRow(index.segment, row));
      row++;
    });
  }
  return ids;
}

/** Where the line of a row stands; `undefined` when its segment is gone. */
export function lineOf(
  segments: SegmentSet,
  row: number,
): { readonly segment: number; readonly offset: number; readonly length: number } | undefined {
  const segment = segmentOf(row);
  const index = segments.find(segment);
  if (index === undefined) return undefined;
  const offset = index.offsets[rowOf(row)] as number;
  return { segment, offset, length: (index.offsets[rowOf(row) + 1] as number) - offset };
}

/** The rows that may have an id, from the newest segment to the oldest. */
export async function* rowsOfId(segments: SegmentSet, id: string): AsyncGenerator<number> {
  const hash = hashOf(id);
  for (const index of [...segments.indexes].reverse()) {
    for (const row of await index.rowsOfId(hash)) yield globalRow(index.segment, row);
  }
}

/** The next rows after a row: at most `count`, and, but for the first of them, at most `bytes` long. */
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
