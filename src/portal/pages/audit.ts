import { ago, counted, exactly } from "../format.ts";
import { zoneWords } from "../zone.ts";
import { html, type Html } from "../html.ts";
import { columnsMenu, USUAL_COLUMNS } from "./audit-columns.ts";
import { auditEventPanel } from "./audit-event.ts";
import { auditChips, auditFilters, auditRanges } from "./audit-filters.ts";
import { auditRows } from "./audit-rows.ts";
import type { AuditModel, TailState } from "./audit-source.ts";
import { auditTimeChart } from "./audit-time-chart.ts";
import {
  ALL_TIME,
  filtersOf,
  rangeWords,
  valueWords,
  viewHref,
  type AuditQuery,
} from "./audit-view.ts";
import { apiPath, badge } from "./parts.ts";

const STALE_MS = 60_000;

/** Names a view of the audit: its filters and its time. */
export function auditTitle({ view }: Pick<AuditModel, "view">): string {
  const filters = filtersOf(view).map(
    ([name, value]) => `${name.startsWith("not_") ? "not " : ""}${valueWords(name, value)}`,
  );
  const isTimed = (view.range ?? view.from ?? view.to) !== undefined;
  return ["Audit", ...filters, ...(isTimed ? [rangeWords(view)] : [])].join(" · ");
}

/** Renders the audit page. */
export function renderAudit(model: AuditModel): Html {
  const { view, list, chart, keepsChart, problem, open, providers } = model;
  return html`<div class="page-head">
      <h1>Audit</h1>
      <p class="total" role="status">${list ? totalWords(model, list.total) : undefined}</p>
      ${freshness(model, model.now)}
      <div class="actions">
        ${liveButton(model)}
        <button type="button" id="copy-link" data-copy title="With its times fixed">
          Copy link
        </button>
        ${VIEWS_MENU} ${list && columnsMenu(model.columns ?? USUAL_COLUMNS)}
        ${list && exportMenu(model, list.total)}
      </div>
    </div>
    <div class="audit-bar">
      ${auditFilters(view, providers)} ${auditRanges(view, model.now)} ${auditChips(view)}
    </div>
    ${problem === undefined ? undefined : html`<p class="notice bad" role="alert">${problem}</p>`}
    ${aheadNotice(model)}
    <div class="audit ${open ? "with-event" : ""}">
      ${problem === undefined ? FACETS_PLACE : undefined}
      <div class="audit-list">
        ${chart ? auditTimeChart(view, chart) : keepsChart && CHART_PLACE}
        ${
          list &&
          html`<section class="card" id="audit-rows" aria-labelledby="rows-title">
            <h2 class="visually-hidden" id="rows-title">Events, newest first, in ${zoneWords()}</h2>
            ${arrivedButton(model.arrived)} ${auditRows(model, list)}
          </section>`
        }
      </div>
      ${auditEventPanel(model)}
    </div>`;
}

function totalWords({ view }: AuditModel, total: number): Html {
  return html`<b>${counted(total, "event")}</b> <span class="faint">${rangeWords(view)}</span>`;
}

/**
 * Says when the list was read, and offers to read it again. Absent where the list cannot grow, or grows
 * by itself.
 */
export function freshness(
  { view, tail, readAt }: Pick<AuditModel, "view" | "tail" | "readAt">,
  now: number,
): Html | undefined {
  if (readAt === undefined || Date.parse(view.to ?? "") <= readAt) return undefined;
  if (view.live !== undefined && tail?.state !== "waiting" && tail?.state !== "stopped") {
    return undefined;
  }
  const isStale = now - readAt >= STALE_MS;
  const moment = exactly(new Date(readAt).toISOString());
  return html`<p class="small fresh" id="freshness" data-read-at="${readAt}">
    ${isStale ? badge(`${ago(readAt, now).replace(" ago", "")} old`, "warn") : undefined}
    <span class="faint"
      >as of
      <time datetime="${new Date(readAt).toISOString()}" title="${moment}"
        >${moment.slice(11)}</time
      ></span
    >
    <a id="refresh" href="${viewHref(view)}">Refresh</a>
  </p>`;
}

/** Says that events are dated after now, which a clock that runs ahead does. */
function aheadNotice({ view, query, ahead }: AuditModel): Html | undefined {
  if (!ahead || query.to === undefined) return undefined;
  const later = viewHref(view, { ...ALL_TIME, live: undefined, from: query.to });
  return html`<p class="notice warn" id="ahead">
    ${counted(ahead, "event")} dated in the future, by a clock that runs ahead, not in this list.
    <a href="${later}">Show them</a>
  </p>`;
}

/** The button that shows arrived events. They wait while the reader is in the list, so that no row moves. */
function arrivedButton(arrived: number | undefined): Html | undefined {
  if (!arrived) return undefined;
  return html`<button type="button" class="arrived" id="show-arrived">
    ${counted(arrived, "new event")}
  </button>`;
}

const TAIL_WORDS: Readonly<Record<TailState["state"], string>> = {
  off: "Live",
  connecting: "Connecting…",
  live: "Live",
  waiting: "Waiting…",
  stopped: "Stopped",
};

/** The button that starts and stops the live tail, with its state. */
export function liveButton({ view, tail }: Pick<AuditModel, "view" | "tail">): Html {
  const state = tail?.state ?? "off";
  return html`<span class="tail needs-modules">
    <span class="small faint" role="status">${tail?.note}</span>
    <button
      type="button"
      id="live"
      class="follow ${state}"
      aria-pressed="${String(view.live !== undefined)}"
      title="Follow events as they arrive"
    >
      <span aria-hidden="true" class="dot"></span>${TAIL_WORDS[state]}
    </button>
  </span>`;
}

/** The place of a chart that is not read yet. An empty one is as high as a chart, so that no row moves later. */
const CHART_PLACE = html`<section class="card time" id="audit-time" data-keep></section>`;

/** The place of the facets, which the browser fills after the list. */
const FACETS_PLACE = html`<details class="facets card needs-modules" id="audit-facets" data-keep>
  <summary>Facets</summary>
  <div></div>
</details>`;

/** The menu of saved views. Its content is known in the browser only. */
const VIEWS_MENU = html`<details class="menu needs-modules" id="views" data-keep>
  <summary class="button">Views</summary>
  <div class="card"></div>
</details>`;

/** The menu of exports. The links work without modules; modules replace them by tickets. */
function exportMenu({ apiUrl, query }: AuditModel, total: number): Html {
  const link = (format: Readonly<Record<string, string>>, word: string): Html =>
    html`<a href="${exportHref(apiUrl, query, format)}" data-export download>${word}</a>`;
  return html`<details class="menu" id="export">
    <summary class="button">Export</summary>
    <div class="card">
      <p><b>${counted(total, "event")}</b>, exactly this view, newest first</p>
      ${link({ format: "csv", bom: "true" }, "CSV, for spreadsheets")}
      ${link({ format: "ndjson" }, "NDJSON, one event a line")}
    </div>
  </details>`;
}

function exportHref(
  apiUrl: string,
  query: AuditQuery,
  format: Readonly<Record<string, string>>,
): string {
  return `${apiPath({ apiUrl })}/audit/export?${new URLSearchParams({ ...format, ...query }).toString()}`;
}
