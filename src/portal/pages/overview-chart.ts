import type { Histogram } from "../../audit/schema.ts";
import { html, type Html } from "../html.ts";
import { barChart, barTable } from "./bar-chart.ts";

const HEIGHT = 190;
const LABEL_EVERY = 4;
const HOUR_MS = 3_600_000;

/** The hours of a day as bars, each of which leads to its events, and as a table. */
export function hourlyChart({ buckets }: Histogram): Html {
  const bars = buckets.map((bucket, i) => {
    const { start } = bucket;
    const hour = start.slice(11, 16);
    const end = new Date(Date.parse(start) + HOUR_MS).toISOString();
    const isLabelled = i % LABEL_EVERY === 0 && i < buckets.length - 2;
    return {
      ...bucket,
      name: `${hour} UTC`,
      rowName: `${start.slice(0, 10)} ${hour}`,
      label: isLabelled ? hour : undefined,
      href: `/portal/audit?from=${start}&to=${end}`,
    };
  });
  const texts = { id: "hours", caption: "Commands by hour", head: "Hour (UTC)" };
  return html`${barChart(bars, { height: HEIGHT, id: "hourly" })} ${barTable(bars, texts)}`;
}
