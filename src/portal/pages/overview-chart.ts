import type { Histogram } from "../../audit/schema.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import { html, type Html } from "../html.ts";
import { zoneWords } from "../zone.ts";
import { viewHref } from "./audit-view.ts";
import { barChart, barTable } from "./bar-chart.ts";
import { chartBars } from "./chart-labels.ts";

const HEIGHT = 190;

/** The minute in which the last 24 hours began. The address of the first bar stays the same within it. */
export function beginOfDay(now: number): number {
  return Math.floor((now - DAY_MS) / MINUTE_MS) * MINUTE_MS;
}

/**
 * Renders the hours of the last day as bars that lead to their events, and as a table. The first bar is
 * the part of its hour that belongs to the day.
 */
export function hourlyChart({ buckets }: Histogram, now: number): Html {
  const hours = buckets.map((bucket) => {
    const start = Date.parse(bucket.start);
    return { ...bucket, start, end: start + HOUR_MS };
  });
  const bars = chartBars(hours, (span) => viewHref(span), beginOfDay(now));
  return html`${barChart(bars, HEIGHT, "hourly")}
  ${barTable(bars, "hours", "Events by hour", `Hour (${zoneWords()})`)}`;
}
