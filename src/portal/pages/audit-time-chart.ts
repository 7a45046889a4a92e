import { exactly } from "../format.ts";
import { html, type Html } from "../html.ts";
import { ALL_TIME, searchesFrom, shortMoment, type AuditView } from "./audit-view.ts";
import { barChart, barTable, chartLegend, type ChartBar } from "./bar-chart.ts";
import { barsOf, type Bar, type TimeChart } from "./time-chart.ts";

const HEIGHT = 120;
const MOST_LABELS = 7;
const DAY_MS = 86_400_000;
const MOST_MS = 8e15; // a little less than dates reach
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** The events of a view over time: each bar, each row of the table and each drag leads into a part of it. */
export function auditTimeChart(view: AuditView, chart: TimeChart): Html {
  const found = barsOf(chart);
  const labels = labelsOf(found);
  const searchOf = searchesFrom(view, ALL_TIME);
  const hrefOf = (from: number, to: number): string =>
    searchOf({ from: shortMoment(from), to: shortMoment(to) });
  const bars = found.map((bar) => shown(bar, hrefOf, labels.get(bar.start)));
  const [first, last] = [found[0]?.start ?? 0, found.at(-1)?.end ?? 0];
  return html`<section class="card time" id="audit-time" aria-labelledby="time-title">
    <header>
      <h2 id="time-title" class="visually-hidden">Events over time</h2>
      ${chartLegend(found)}
      <span class="small faint needs-modules no-touch">Drag to zoom</span>
      <a class="small" href="${hrefOf(...wider(first, last))}">Zoom out</a>
    </header>
    <div class="inside" data-start="${first}" data-end="${last}">
      ${barChart(bars, { height: HEIGHT, id: "audit" })}
      ${barTable(bars, { id: "bars", caption: "Events over time", head: "From (UTC)" })}
    </div>
  </section>`;
}

function shown(
  bar: Bar,
  hrefOf: (from: number, to: number) => string,
  label: string | undefined,
): ChartBar & { readonly rowName: string } {
  const { start, end, allowed, denied, other } = bar;
  const rowName = exactly(iso(start)).slice(0, 16);
  const href = hrefOf(start, end);
  return { allowed, denied, other, rowName, name: `${rowName} UTC`, label, href };
}

/** A few labels that fit: times of day where the chart is about one, else the days that begin. */
function labelsOf(bars: readonly Bar[]): ReadonlyMap<number, string> {
  const span = (bars.at(-1)?.end ?? 0) - (bars[0]?.start ?? 0);
  const isOneDay = span <= 1.5 * DAY_MS;
  const dayOf = ({ start }: Bar): number => Math.floor(start / DAY_MS);
  const marks = isOneDay
    ? bars
    : bars.filter((bar, i) => i === 0 || dayOf(bar) !== dayOf(bars[i - 1] ?? bar));
  const every = Math.ceil(marks.length / MOST_LABELS);
  // A label is as wide as some bars: near the right end it would be cut.
  const latest = (bars.at(-1)?.end ?? 0) - span / 16;
  const chosen = marks.filter(({ start }, i) => i % every === 0 && start <= latest);
  return new Map(chosen.map(({ start }) => [start, isOneDay ? timeOf(start) : dayName(start)]));
}

function timeOf(ms: number): string {
  return iso(ms).slice(11, 16);
}

function dayName(ms: number): string {
  const moment = new Date(ms);
  return `${moment.getUTCDate()} ${MONTHS[moment.getUTCMonth()]}`;
}

/** Three times the span, around the same middle. */
function wider(start: number, end: number): [number, number] {
  const span = Math.min(end - start, MOST_MS / 4);
  return [start - span, end + span];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
