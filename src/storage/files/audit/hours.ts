/**
 * How many events of each kind a sealed segment has in each hour. Counted when a histogram first asks,
 * and kept as long as the segment's index is: a segment of a few days takes some kilobytes, and a
 * histogram of a long history then adds up hours rather than events.
 */
import { HOUR_MS } from "../../../core/clock.ts";
import { decisionOfKind, KINDS } from "./kinds.ts";
import type { Pace } from "./pace.ts";
import type { Question } from "./question.ts";
import type { SegmentIndex } from "./segment-index.ts";

/** A segment of more hours than this, half a year, has no table. */
const MAX_HOURS = 4_096;
const ROWS_AT_ONCE = 4_096;

interface Hours {
  /** The first hour, counted from 1970. */
  readonly first: number;
  /** Hour after hour, how many events are of each kind. */
  readonly counts: Uint32Array;
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
  const hours = known.get(index) ?? (await countHours(index, pace));
  if (hours === undefined) return false;
  for (let at = 0; at < hours.counts.length; at++) {
    const count = hours.counts[at] as number;
    const kind = at % KINDS;
    if (count === 0 || kinds?.[kind] === 0) continue;
    const hour = hours.first + Math.floor(at / KINDS);
    const list = counts[decisionOfKind(kind)] as number[];
    const bucket = Math.floor((hour * HOUR_MS - from) / intervalMs);
    list[bucket] = (list[bucket] as number) + count;
  }
  return true;
}

async function countHours(index: SegmentIndex, pace: Pace): Promise<Hours | undefined> {
  const { rows, times, kinds, oldest, newest } = index;
  const isSealed = index.postings !== undefined;
  if (!isSealed || rows === 0) return undefined;
  const first = Math.floor(oldest / HOUR_MS);
  const length = Math.floor(newest / HOUR_MS) - first + 1;
  if (length > MAX_HOURS) return undefined;
  const counts = new Uint32Array(length * KINDS);
  for (let row = 0; row < rows; row++) {
    const hour = Math.floor((times[row] as number) / HOUR_MS) - first;
    const at = hour * KINDS + (kinds[row] as number);
    counts[at] = (counts[at] as number) + 1;
    if (row % ROWS_AT_ONCE === 0 && pace.isDue) await pace.step();
  }
  const hours = { first, counts };
  known.set(index, hours);
  return hours;
}
