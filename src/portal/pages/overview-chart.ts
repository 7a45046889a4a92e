import type { Histogram } from "../../audit/schema.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { html, type Html } from "../html.ts";
import { barChart, barTable } from "./bar-chart.ts";
import { chartLabels, type LabelledBar } from "./chart-labels.ts";

const HEIGHT = 190;

/** Renders the hours of a day as bars that lead to their events, and as a table. */
export function hourlyChart({ buckets }: Histogram): Html {
  const spanOf = ({ start }: { readonly start: string }): LabelledBar => ({
    start: Date.parse(start),
    end: Date.parse(start) + HOUR_MS,
  });
  const labels = chartLabels(buckets.map(spanOf));
  const bars = buckets.map((bucket) => {
    const { start } = bucket;
    const hour = start.slice(11, 16);
    const span = spanOf(bucket);
    const end = new Date(span.end).toISOString();
    return {
      ...bucket,
      name: `${hour} UTC`,
      rowName: `${start.slice(0, 10)} ${hour}`,
      label: labels.get(span.start),
      href: `/portal/audit?from=${start}&to=${end}`,
    };
  });
  return html`${barChart(bars, HEIGHT, "hourly")}
  ${barTable(bars, "hours", "Commands by hour", "Hour (UTC)")}`;
}
