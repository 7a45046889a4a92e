/**
 * Counts events by time and decision. A sealed segment is counted once, by hour and facets; the table, some
 * kilobytes for a segment of a few days, lives as long as the segment's index. So a histogram of a long
 * history adds up hours instead of events. The active segment is counted row by row.
 */
import type { AuditHistogram } from "../../../../audit/store.ts";
import { HOUR_MS } from "../../../../core/clock.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import { decisionOfFacets, PACKED_FACETS } from "../index/fields.ts";
import type { SegmentIndex } from "../index/segment-index.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { rowAt, selectRows, segmentViewOf } from "./select-rows.ts";

/** A segment that spans more hours than this, half a year, has no table. */
const MAX_HOURS = 4_096;
const ROWS_AT_ONCE = 4_096;

/** The number of a segment's events by hour, from its first hour on, and by packed facet. */
interface HourTable {
  /** Hours since 1970. */
  readonly firstHour: number;
  readonly counts: Uint32Array;
}

/** The range of a histogram, and the length of its buckets. */
export interface BucketRange {
  readonly from: number;
  readonly to: number;
  readonly intervalMs: number;
}

/** Adds events with some packed facets to the bucket of a time. */
type Count = (time: number, packed: number, events: number) => void;

const tables = new WeakMap<SegmentIndex, HourTable>();

/** Answers a histogram: the matches by time and decision. */
export async function answerHistogram(
  indexes: readonly SegmentIndex[],
  query: SegmentQuery,
  range: BucketRange,
  signal: AbortSignal | undefined,
): Promise<AuditHistogram> {
  const { from, to, intervalMs } = range;
  const length = Math.max(0, Math.ceil((to - from) / intervalMs));
  const [other, allowed, denied] = [0, 1, 2].map(() => new Array<number>(length).fill(0)) as [
    number[],
    number[],
    number[],
  ];
  const count: Count = (time, packed, events) => {
    const list = [other, allowed, denied][decisionOfFacets(packed)] as number[];
    const bucket = Math.floor((time - from) / intervalMs);
    list[bucket] = (list[bucket] as number) + events;
  };
  const both = { ...query, from: Math.max(from, query.from), to: Math.min(to, query.to) };
  const yielder = new Yielder(signal);
  for (const view of indexes.map(segmentViewOf)) {
    const { index } = view;
    if (isByHours(index, both, range)) {
      addHours(await tableOf(index, yielder), both.facets, count);
      continue;
    }
    const selected = await selectRows(view, both, yielder);
    for (let k = 0; k < selected.length; k++) {
      const row = rowAt(selected, k);
      count(index.times[row] as number, index.facets[row] as number, 1);
      if (k % ROWS_AT_ONCE === 0 && yielder.isDue) await yielder.step();
    }
  }
  return { allowed, denied, other };
}

/** Whether a segment's hours can be added up, in place of its rows. */
function isByHours(index: SegmentIndex, query: SegmentQuery, range: BucketRange): boolean {
  const { wanted, unwanted, wildcards, trace, texts } = query;
  const { isSealed, oldest, newest } = index;
  return (
    isSealed &&
    wanted.length + unwanted.length + wildcards.length === 0 &&
    trace === undefined &&
    texts.length === 0 &&
    range.from % HOUR_MS === 0 &&
    range.intervalMs % HOUR_MS === 0 &&
    query.from <= oldest &&
    query.to > newest &&
    Math.floor(newest / HOUR_MS) - Math.floor(oldest / HOUR_MS) < MAX_HOURS
  );
}

function addHours(
  { firstHour, counts }: HourTable,
  wanted: Uint8Array | undefined,
  count: Count,
): void {
  for (let at = 0; at < counts.length; at++) {
    const events = counts[at] as number;
    const packed = at % PACKED_FACETS;
    if (events === 0 || wanted?.[packed] === 0) continue;
    count((firstHour + Math.floor(at / PACKED_FACETS)) * HOUR_MS, packed, events);
  }
}

async function tableOf(index: SegmentIndex, yielder: Yielder): Promise<HourTable> {
  const known = tables.get(index);
  if (known !== undefined) return known;
  const { rows, times, facets, oldest, newest } = index;
  const firstHour = Math.floor(oldest / HOUR_MS);
  const hours = Math.floor(newest / HOUR_MS) - firstHour + 1;
  const counts = new Uint32Array(hours * PACKED_FACETS);
  for (let row = 0; row < rows; row++) {
    const hour = Math.floor((times[row] as number) / HOUR_MS) - firstHour;
    const at = hour * PACKED_FACETS + (facets[row] as number);
    counts[at] = (counts[at] as number) + 1;
    if (row % ROWS_AT_ONCE === 0 && yielder.isDue) await yielder.step();
  }
  const table = { firstHour, counts };
  tables.set(index, table);
  return table;
}
