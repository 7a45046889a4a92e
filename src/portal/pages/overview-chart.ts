import type { Histogram } from "../../audit/schema.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { html, type Html } from "../html.ts";
import { shortMoment, viewHref } from "./audit-view.ts";
import { barChart, barTable } from "./bar-chart.ts";
import { chartBars } from "./chart-labels.ts";

const HEIGHT = 190;

/** Renders the hours of a day as bars that lead to their events, and as a table. */
export function hourlyChart({ buckets }: Histogram): Html {
  const hours = buckets.map((bucket) => {
    const start = Date.parse(bucket.start);
    return { ...bucket, start, end: start + HOUR_MS };
  });
  const bars = chartBars(hours, (from, to) =>
    viewHref({ from: shortMoment(from), to: shortMoment(to) }),
  );
  return html`${barChart(bars, HEIGHT, "hourly")}
  ${barTable(bars, "hours", "Commands by hour", "Hour (UTC)")}`;
}
