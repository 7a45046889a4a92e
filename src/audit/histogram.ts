import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { FIRST_MS, formatTimestamp } from "../core/time.ts";
import type { Histogram, Interval } from "./schema.ts";
import type { AuditFilter, AuditHistogram } from "./store.ts";

export const MAX_BUCKETS = 1_000;

const INTERVAL_MS: Readonly<Record<Interval, number>> = {
  "1m": MINUTE_MS,
  "1h": HOUR_MS,
  "1d": DAY_MS,
};

/** A request for counts: events in a range of time, in buckets that cover it. */
export interface Buckets {
  /** The requested filter; the first and the last bucket may count only a part of their length. */
  readonly filter: AuditFilter;
  /** The start of the first bucket, in milliseconds: a whole number of intervals in UTC. */
  readonly start: number;
  /** The end of the last bucket. */
  readonly end: number;
  readonly intervalMs: number;
}

/**
 * Chooses the buckets that cover the range of a filter. The default of `from` is 24 hours before `to`. The
 * default of `to` is one millisecond after `now`, so that events of this millisecond are counted.
 *
 * @throws BadInput if there would be more than 1,000 buckets
 */
export function bucketsFor(interval: Interval, given: AuditFilter, now: number): Buckets {
  const intervalMs = INTERVAL_MS[interval];
  const { to = now + 1 } = given;
  const { from = Math.max(to - DAY_MS, FIRST_MS) } = given;
  const filter = { ...given, from, to };
  const start = Math.floor(from / intervalMs) * intervalMs;
  const end = from < to ? Math.ceil(to / intervalMs) * intervalMs : start;
  const count = (end - start) / intervalMs;
  if (count > MAX_BUCKETS) {
    throw new BadInput(
      `interval: ${interval} makes ${count} buckets of this range, at most ${MAX_BUCKETS} are ` +
        "answered; take a longer interval, or from and to that are closer",
    );
  }
  return { filter, start, end, intervalMs };
}

/** The answer: the counts of each bucket, oldest first. */
export function histogramOf(
  interval: Interval,
  { start, end, intervalMs }: Buckets,
  { allowed, denied, other }: AuditHistogram,
): Histogram {
  const buckets = Array.from({ length: (end - start) / intervalMs }, (_, i) => ({
    start: formatTimestamp(start + i * intervalMs),
    allowed: allowed[i] ?? 0,
    denied: denied[i] ?? 0,
    other: other[i] ?? 0,
  }));
  return { interval, buckets };
}
