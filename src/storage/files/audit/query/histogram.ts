/**
 * Counts the events of a segment by hour and facets. The table is built when a histogram first needs it,
 * and lives as long as the segment's index: some kilobytes for a segment of a few days. So a histogram of
 * a long history adds up hours instead of events. For the active segment only the events since the last
 * histogram are counted.
 */
import { HOUR_MS } from "../../../../core/clock.ts";
import { decisionOfFacets, PACKED_FACETS } from "../index/fields.ts";
import type { Yielder } from "../../../../core/yielder.ts";
import type { SegmentQuery } from "./segment-query.ts";
import type { SegmentIndex } from "../index/segment-index.ts";

/** A segment of more hours than this, half a year, has no table. */
const MAX_HOURS = 4_096;
const ROWS_AT_ONCE = 4_096;
const DECISIONS = 3;

interface Hours {
  /** How many rows are counted. */
  rows: number;
  /** The first hour, counted from 1970. */
  first: number;
  /** Hour after hour, how many events have each packed facet. */
  facets: Uint32Array;
  /** The same by decision. */
  decisions: Uint32Array;
}

/** The buckets of a histogram: where the first one begins, and how long each is. */
export interface BucketRange {
  readonly from: number;
  readonly intervalMs: number;
}

const known = new WeakMap<SegmentIndex, Hours>();

/**
 * Adds a segment to a histogram by its hours.
 *
 * @param counts for other, allowed and denied events, how many are in each bucket
 * @returns whether that could be done; otherwise its rows have to be counted
 */
export async function addHours(
  counts: readonly number[][],
  index: SegmentIndex,
  query: SegmentQuery,
  { from, intervalMs }: BucketRange,
  yielder: Yielder,
): Promise<boolean> {
  const { wanted, facets, trace, text } = query;
  if (wanted.length > 0 || trace !== undefined || text !== undefined) return false;
  if (from % HOUR_MS !== 0 || intervalMs % HOUR_MS !== 0) return false;
  if (query.from > index.oldest || query.to <= index.newest) return false;
  const hours = await hoursOf(index, yielder);
  // What a segment took in meanwhile may lie outside of the query.
  if (hours === undefined || query.to <= index.newest || query.from > index.oldest) return false;
  const [table, width] = facets
    ? ([hours.facets, PACKED_FACETS] as const)
    : ([hours.decisions, DECISIONS] as const);
  for (let at = 0; at < table.length; at++) {
    const count = table[at] as number;
    const one = at % width;
    if (count === 0 || facets?.[one] === 0) continue;
    const hour = hours.first + Math.floor(at / width);
    const list = counts[facets ? decisionOfFacets(one) : one] as number[];
    const bucket = Math.floor((hour * HOUR_MS - from) / intervalMs);
    list[bucket] = (list[bucket] as number) + count;
  }
  return true;
}

async function hoursOf(index: SegmentIndex, yielder: Yielder): Promise<Hours | undefined> {
  const { rows } = index;
  if (rows === 0) return undefined;
  for (;;) {
    const hours = roomFor(index);
    if (hours === undefined || hours.rows >= rows) return hours;
    // Other queries may count the same segment: rows and their number change in one step.
    countRows(index, hours, Math.min(rows, hours.rows + ROWS_AT_ONCE));
    if (yielder.isDue) await yielder.step();
  }
}

/** The table of a segment, with room for all its hours; `undefined` when there are too many. */
function roomFor(index: SegmentIndex): Hours | undefined {
  const first = Math.floor(index.oldest / HOUR_MS);
  const length = Math.floor(index.newest / HOUR_MS) - first + 1;
  if (length > MAX_HOURS) return undefined;
  const hours = known.get(index);
  if (hours?.first === first && hours.decisions.length === length * DECISIONS) return hours;
  const wider = {
    ...{ rows: hours?.rows ?? 0, first },
    facets: new Uint32Array(length * PACKED_FACETS),
    decisions: new Uint32Array(length * DECISIONS),
  };
  if (hours) {
    wider.facets.set(hours.facets, (hours.first - first) * PACKED_FACETS);
    wider.decisions.set(hours.decisions, (hours.first - first) * DECISIONS);
  }
  known.set(index, wider);
  return wider;
}

function countRows({ times, facets }: SegmentIndex, hours: Hours, end: number): void {
  for (let row = hours.rows; row < end; row++) {
    const hour = Math.floor((times[row] as number) / HOUR_MS) - hours.first;
    const packed = facets[row] as number;
    const [ofFacets, ofDecision] = [
      hour * PACKED_FACETS + packed,
      hour * DECISIONS + decisionOfFacets(packed),
    ];
    hours.facets[ofFacets] = (hours.facets[ofFacets] as number) + 1;
    hours.decisions[ofDecision] = (hours.decisions[ofDecision] as number) + 1;
  }
  hours.rows = end;
}
