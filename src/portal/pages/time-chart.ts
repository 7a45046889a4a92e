/**
 * Plans a chart of events over any time range: which histogram to ask for, and how its buckets, which have
 * one of three lengths, become a readable number of bars.
 */
import type { Histogram, Interval } from "../../audit/schema.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import { wallClock } from "../zone.ts";

const MOST_BUCKETS = 990; // slightly below the limit of the API, since ranges are extended to whole buckets
const MOST_BARS = 75;
const SHORTEST_ALL_MS = HOUR_MS;
const SHORTEST_DAILY_MS = 14 * DAY_MS;
const YOUNG_MS = 3 * DAY_MS;
/** Early events are left out where the empty time after them is this many times longer than the rest. */
const LONG_GAP = 9;
/** At most this many events are left out, or a tenth of the later ones. */
const FEW_EVENTS = 3;

/** The lengths of buckets, each with the possible widths of bars, in milliseconds. */
const SCALES = [
  { interval: "1m", bucket: MINUTE_MS, widths: [1, 2, 5, 10, 15].map((n) => n * MINUTE_MS) },
  { interval: "1h", bucket: HOUR_MS, widths: [1, 2, 3, 6, 12, 24].map((n) => n * HOUR_MS) },
  { interval: "1d", bucket: DAY_MS, widths: [1, 2, 7, 14, 28].map((n) => n * DAY_MS) },
] as const satisfies readonly {
  readonly interval: Interval;
  readonly bucket: number;
  readonly widths: readonly number[];
}[];

/** The query for the histogram; times in milliseconds. */
export interface ChartPlan {
  readonly interval: Interval;
  readonly from: number;
  readonly to: number;
  /** Whether the range has no start: the chart begins at the first event then. */
  readonly isOpen: boolean;
}

/** The events of one bucket of the histogram; its start is in milliseconds. */
export interface Counted {
  readonly start: number;
  readonly allowed: number;
  readonly denied: number;
  readonly other: number;
}

/** A plan and its answer: the buckets that are not empty, oldest first. */
export interface TimeChart {
  readonly plan: ChartPlan;
  readonly buckets: readonly Counted[];
  /** The number of events before the first bar. */
  readonly earlier?: number;
}

/** The events of one bar; times in milliseconds. */
export interface Bar extends Counted {
  readonly end: number;
}

/** The known times of a list, as RFC 3339. */
export interface KnownTime {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The time of the first event of the list. */
  readonly newest?: string | undefined;
  /** The time of the last event, where the list is known to its end. */
  readonly oldest?: string | undefined;
}

/**
 * Plans the query. An unknown start is searched for as far back as a histogram by days reaches, and so is
 * one long ago: a wrong clock may have dated the oldest event.
 */
export function planChart({ from, to, newest, oldest }: KnownTime, now: number): ChartPlan {
  const end = momentOf(to) ?? Math.max(now, momentOf(newest) ?? now) + 1;
  const first = momentOf(oldest);
  const isRecent = first !== undefined && end - first <= SHORTEST_DAILY_MS;
  const start = momentOf(from) ?? (isRecent ? Math.min(first, end - SHORTEST_ALL_MS) : undefined);
  const earliest = end - MOST_BUCKETS * DAY_MS;
  if (start === undefined) return { interval: "1d", from: earliest, to: end, isOpen: true };
  const fits = SCALES.find(({ bucket }) => end - start <= MOST_BUCKETS * bucket);
  const interval = fits?.interval ?? "1d";
  return { interval, from: Math.max(start, earliest), to: end, isOpen: false };
}

/** Plans a query by hours where the answer shows that all events are from the last days. */
export function refineChart({ plan, buckets }: TimeChart): ChartPlan | undefined {
  if (!plan.isOpen) return undefined;
  const start = beginningOf(buckets, plan.to);
  if (start === undefined || plan.to - start > YOUNG_MS) return undefined;
  return { interval: "1h", from: start, to: plan.to, isOpen: true };
}

/** The bars of a chart: oldest first, without gaps, all of the same width. */
export function barsOf({ plan, buckets }: TimeChart): readonly Bar[] {
  const { from, to } = boundsOf(plan, buckets);
  const scale = SCALES.find(({ interval }) => interval === plan.interval) ?? SCALES[2];
  const widest = scale.widths.at(-1) ?? scale.bucket;
  const width = scale.widths.find((one) => (to - from) / one <= MOST_BARS) ?? widest;
  const ahead = aheadBy(to, scale.bucket);
  const start = Math.floor((from + ahead) / width) * width - ahead;
  const bars = Array.from({ length: Math.max(1, Math.ceil((to - start) / width)) }, (_, i) => ({
    start: start + i * width,
    end: start + (i + 1) * width,
    ...{ allowed: 0, denied: 0, other: 0 },
  }));
  for (const bucket of buckets) {
    const bar = bars[Math.floor((bucket.start - start) / width)];
    if (!bar) continue; // a day before the start of the chart
    bar.allowed += bucket.allowed;
    bar.denied += bucket.denied;
    bar.other += bucket.other;
  }
  return bars;
}

/**
 * The milliseconds that the shown zone is ahead of UTC, so that bars begin at round local times; 0 where buckets,
 * which begin at round times in UTC, would be cut.
 */
function aheadBy(to: number, bucket: number): number {
  const ahead = wallClock(to) - to;
  return ahead % bucket === 0 ? ahead : 0;
}

/** The buckets of a histogram for a chart. */
export function countedOf({ buckets }: Histogram): readonly Counted[] {
  return buckets
    .filter((bucket) => totalOf(bucket) > 0)
    .map((bucket) => ({ ...bucket, start: Date.parse(bucket.start) }));
}

/** The number of events of a bar or a bucket. */
export function totalOf(bar: Pick<Bar, "allowed" | "denied" | "other">): number {
  return bar.allowed + bar.denied + bar.other;
}

/**
 * The start of the buckets, without a few early ones that lie far before the rest: they would squeeze all
 * others into a few bars.
 */
function beginningOf(buckets: readonly Counted[], to: number): number | undefined {
  const all = buckets.reduce((sum, bucket) => sum + totalOf(bucket), 0);
  let start = buckets[0]?.start;
  let before = 0;
  for (const [i, bucket] of buckets.entries()) {
    const next = buckets[i + 1];
    before += totalOf(bucket);
    const after = all - before;
    if (!next || before > Math.max(Math.min(FEW_EVENTS, after), after / 10)) break;
    const rest = Math.max(to - next.start, SHORTEST_DAILY_MS);
    if (next.start - bucket.start > LONG_GAP * rest) ({ start } = next);
  }
  return start;
}

/** The start and end of the bars. An open start is at the first event, or two weeks ago if that is earlier. */
function boundsOf(
  { from, to, isOpen, interval }: ChartPlan,
  buckets: readonly Counted[],
): { readonly from: number; readonly to: number } {
  if (!isOpen || interval !== "1d") return { from, to };
  return { from: Math.min(beginningOf(buckets, to) ?? to, to - SHORTEST_DAILY_MS), to };
}

function momentOf(timestamp: string | undefined): number | undefined {
  const ms = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(ms) ? undefined : ms;
}
