/**
 * How many events of each kind a segment has in each hour. Counted when a histogram first asks, and
 * kept as long as the segment's index is: a segment of a few days takes some kilobytes, and a histogram
 * of a long history then adds up hours rather than events. Of a segment that grows, only what came
 * since the last histogram is counted.
 */
import { HOUR_MS } from "../../../core/clock.ts";
import { decisionOfKind, KINDS } from "./kinds.ts";
import type { Pace } from "../../../core/pace.ts";
import type { Question } from "./question.ts";
import type { SegmentIndex } from "./segment-index.ts";

/** A segment of more hours than this, half a year, has no table. */
const MAX_HOURS = 4_096;
const ROWS_AT_ONCE = 4_096;
const DECISIONS = 3;

interface Hours {
  /** How many rows are counted. */
  rows: number;
  /** The first hour, counted from 1970. */
  first: number;
  /** Hour after hour, how many events are of each kind. */
  kinds: Uint32Array;
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
  question: Question,
  { from, intervalMs }: BucketRange,
  pace: Pace,
): Promise<boolean> {
  const { wanted, kinds, trace, text } = question;
  if (wanted.length > 0 || trace !== undefined || text !== undefined) return false;
  if (from % HOUR_MS !== 0 || intervalMs % HOUR_MS !== 0) return false;
  if (question.from > index.oldest || question.to <= index.newest) return false;
  const hours = await hoursOf(index, pace);
  // What a segment took in meanwhile may lie outside of the question.
  if (hours === undefined || question.to <= index.newest || question.from > index.oldest)
    return false;
  const [table, width] = kinds
    ? ([hours.kinds, KINDS] as const)
    : ([hours.decisions, DECISIONS] as const);
  for (let at = 0; at < table.length; at++) {
    const count = table[at] as number;
    const one = at % width;
    if (count === 0 || kinds?.[one] === 0) continue;
    const hour = hours.first + Math.floor(at / width);
    const list = counts[kinds ? decisionOfKind(one) : one] as number[];
    const bucket = Math.floor((hour * HOUR_MS - from) / intervalMs);
    list[bucket] = (list[bucket] as number) + count;
  }
  return true;
}

async function hoursOf(index: SegmentIndex, pace: Pace): Promise<Hours | undefined> {
  const { rows } = index;
  if (rows === 0) return undefined;
  for (;;) {
    const hours = roomFor(index);
    if (hours === undefined || hours.rows >= rows) return hours;
    // Others may count the same segment: what is counted and how far stays one step.
    countRows(index, hours, Math.min(rows, hours.rows + ROWS_AT_ONCE));
    if (pace.isDue) await pace.step();
  }
}

/** The table of a segment, with room for every hour that it has now; `undefined` where those are too many. */
function roomFor(index: SegmentIndex): Hours | undefined {
  const first = Math.floor(index.oldest / HOUR_MS);
  const length = Math.floor(index.newest / HOUR_MS) - first + 1;
  if (length > MAX_HOURS) return undefined;
  const hours = known.get(index);
  if (hours?.first === first && hours.decisions.length === length * DECISIONS) return hours;
  const wider = {
    ...{ rows: hours?.rows ?? 0, first },
    kinds: new Uint32Array(length * KINDS),
    decisions: new Uint32Array(length * DECISIONS),
  };
  if (hours) {
    wider.kinds.set(hours.kinds, (hours.first - first) * KINDS);
    wider.decisions.set(hours.decisions, (hours.first - first) * DECISIONS);
  }
  known.set(index, wider);
  return wider;
}

function countRows({ times, kinds }: SegmentIndex, hours: Hours, end: number): void {
  for (let row = hours.rows; row < end; row++) {
    const hour = Math.floor((times[row] as number) / HOUR_MS) - hours.first;
    const kind = kinds[row] as number;
    const [ofKind, ofDecision] = [hour * KINDS + kind, hour * DECISIONS + decisionOfKind(kind)];
    hours.kinds[ofKind] = (hours.kinds[ofKind] as number) + 1;
    hours.decisions[ofDecision] = (hours.decisions[ofDecision] as number) + 1;
  }
  hours.rows = end;
}
