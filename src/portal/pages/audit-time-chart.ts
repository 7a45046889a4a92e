import { counted, exactly } from "../format.ts";
import { html, type Html } from "../html.ts";
import { zoneWords } from "../zone.ts";
import {
  ALL_TIME,
  quickRangeOf,
  searchesFrom,
  setsAnew,
  shortMoment,
  viewHref,
  type AuditView,
} from "./audit-view.ts";
import { barChart, barTable, chartLegend } from "./bar-chart.ts";
import { chartBars } from "./chart-labels.ts";
import { barsOf, type TimeChart } from "./time-chart.ts";

const HEIGHT = 120;
const MOST_MS = 8e15; // slightly less than the range of dates

/** Renders the events of a view over time: bars, table rows and drags lead to a part of the time. */
export function auditTimeChart(view: AuditView, chart: TimeChart): Html {
  const found = barsOf(chart);
  const searchOf = searchesFrom(view, ALL_TIME);
  const { plan, earlier = 0 } = chart;
  const end = view.to === undefined ? undefined : plan.to;
  const bars = chartBars(found, searchOf, plan.from, end);
  const [first, last] = [found[0]?.start ?? 0, found.at(-1)?.end ?? 0];
  const isPart = (quickRangeOf(view) ?? view.from ?? view.to) !== undefined;
  return html`<section
    class="card time"
    id="audit-time"
    aria-labelledby="time-title"
    data-sets="${setsAnew("range", "from", "to")}"
  >
    <header>
      <h2 id="time-title" class="visually-hidden">Events over time</h2>
      ${chartLegend(found)}
      <span class="hint small faint needs-modules no-touch">Drag to zoom</span>
      ${isPart ? html`<a class="small" href="${searchOf(wider(first, last))}">Zoom out</a>` : undefined}
    </header>
    <div
      class="inside"
      data-start="${first}"
      data-end="${last}"
      data-from="${plan.from}"
      data-to="${end}"
    >
      ${barChart(bars, HEIGHT, "audit")}
      ${barTable(bars, "bars", "Events over time", `From (${zoneWords()})`)}
      ${earlier > 0 ? earlierNote(earlier, first, view) : undefined}
    </div>
  </section>`;
}

/** Says that events precede the chart: it reaches back a limited time, and leaves out single old events. */
function earlierNote(earlier: number, first: number, view: AuditView): Html {
  const to = shortMoment(first);
  return html`<p class="small faint">
    ${counted(earlier, "earlier event")} not in the chart:
    <a href="${viewHref(view, { ...ALL_TIME, from: view.from, to })}">before ${exactly(to)}</a>
  </p>`;
}

/** Three times the span around the same centre. */
function wider(start: number, end: number): AuditView {
  const span = Math.min(end - start, MOST_MS / 4);
  return { from: shortMoment(start - span), to: shortMoment(end + span) };
}
