import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import { shortDay } from "../format.ts";
import { wallClock, wallText } from "../zone.ts";
import { shortMoment, type AuditView } from "./audit-view.ts";
import type { ChartBar } from "./bar-chart.ts";
import type { Bar } from "./time-chart.ts";

const MOST_LABELS = 7;

/** The possible distances between labels in milliseconds: round times of day, and days. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 20, 30].map((n) => n * MINUTE_MS),
  ...[1, 2, 3, 4, 6, 12].map((n) => n * HOUR_MS),
  ...[1, 2, 4, 7, 14, 28, 56, 84, 168, 336].map((n) => n * DAY_MS),
];

/**
 * Names and labels the bars of a chart.
 *
 * @param hrefOf the address of the events between two moments, as addresses write them
 * @param from the first moment that was counted: an earlier bar shows only its part since then
 * @param to the end of the time that was counted
 */
export function chartBars(
  bars: readonly Bar[],
  hrefOf: (span: Required<Pick<AuditView, "from" | "to">>) => string,
  from = Number.NEGATIVE_INFINITY,
  to = Number.POSITIVE_INFINITY,
): readonly ChartBar[] {
  const labels = chartLabels(bars);
  return bars.map(({ start, end, allowed, denied, other }) => {
    const [first, last] = [Math.max(start, from), Math.min(end, to)];
    return {
      ...{ allowed, denied, other },
      name: wallText(first).slice(0, 16),
      label: labels.get(start),
      href: hrefOf({ from: shortMoment(first), to: shortMoment(last) }),
    };
  });
}

/**
 * The labels that fit below bars, by the start of the bar: round times of day in the shown zone, and the date
 * where a day begins. A bar that begins between two round times, such as a day of UTC in another zone, has the
 * label of the nearer one.
 *
 * @param bars oldest first, all of the same length
 */
export function chartLabels(
  bars: readonly Pick<Bar, "start" | "end">[],
): ReadonlyMap<number, string> {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return new Map();
  const span = last.end - first.start;
  const width = first.end - first.start;
  const step = STEPS.find((one) => one % width === 0 && span / one <= MOST_LABELS) ?? span;
  // A label is wider than a bar: near the right edge it would be cut.
  const latest = last.end - span / 16;
  const chosen = bars
    .map(({ start }) => ({ start, wall: Math.round(wallClock(start) / width) * width }))
    .filter(({ start, wall }) => wall % step === 0 && start <= latest);
  return new Map(chosen.map(({ start, wall }) => [start, labelOf(wall)]));
}

function labelOf(wall: number): string {
  return wall % DAY_MS === 0 ? shortDay(wall) : new Date(wall).toISOString().slice(11, 16);
}
