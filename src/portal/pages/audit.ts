import { counted } from "../format.ts";
import { html, type Html } from "../html.ts";
import { auditEventPanel } from "./audit-event.ts";
import { auditChips, auditFilters, auditRanges } from "./audit-filters.ts";
import { auditRows } from "./audit-rows.ts";
import type { AuditModel, TailState } from "./audit-source.ts";
import { auditTimeChart } from "./audit-time-chart.ts";
import { rangeWords, type AuditQuery } from "./audit-view.ts";
import { apiPath } from "./parts.ts";

/** Renders the audit page. */
export function renderAudit(model: AuditModel): Html {
  const { view, list, chart, keepsChart, problem, open, providers } = model;
  return html`<div class="page-head">
      <h1>Audit</h1>
      <p class="total" role="status">${list ? totalWords(model, list.total) : undefined}</p>
      <div class="actions">${liveButton(model)} ${list && exportMenu(model, list.total)}</div>
    </div>
    <div class="audit-bar">
      ${auditFilters(view, providers)} ${auditRanges(view)} ${auditChips(view)}
    </div>
    ${problem === undefined ? undefined : html`<p class="notice bad" role="alert">${problem}</p>`}
    <div class="audit ${open ? "with-event" : ""}">
      <div class="audit-list">
        ${chart ? auditTimeChart(view, chart) : keepsChart && html`<section id="audit-time" data-keep></section>`}
        ${
          list &&
          html`<section class="card" id="audit-rows" aria-labelledby="rows-title">
            <h2 class="visually-hidden" id="rows-title">Events, newest first, in UTC</h2>
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
