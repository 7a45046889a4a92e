import type { AuditEvent } from "../../audit/schema.ts";
import { DAY_MS } from "../../core/clock.ts";
import { count, counted, exactly, MONTHS, shorten } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";
import { withMarks } from "../redacted.ts";
import { wallClock, zoneWords } from "../zone.ts";
import { columnCells, columnHeads, USUAL_COLUMNS, type AuditColumn } from "./audit-columns.ts";
import type { AuditModel, AuditSlice, WayOut } from "./audit-source.ts";
import {
  ALL_TIME,
  ANEW,
  FILTER_WORDS,
  filtersOf,
  searchesFrom,
  setsAnew,
  valueWords,
  viewHref,
  type AuditView,
} from "./audit-view.ts";
import { decisionBadge, emptyState, subjectOf } from "./parts.ts";
import { reportRequest } from "./first-steps.ts";

const COMMAND_LENGTH = 300;
const REASON_LENGTH = 200;
const NAME_LENGTH = 60;
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/**
 * Renders the events of a list by day, or the advice for an empty list.
 *
 * @param above the number of events that are shown already, when the list continues them
 */
export function auditRows(model: AuditModel, list: AuditSlice, above = 0): Html {
  if (above + list.events.length === 0) return nothing(model);
  const { view, columns = USUAL_COLUMNS } = model;
  const hrefOf = searchesFrom(view, { event: undefined });
  return html`${above === 0 ? columnHeads(columns) : undefined}
  ${byDay(list.events).map(
    ([day, events]) =>
      html`<section class="day" id="day-${day}" aria-labelledby="day-${day}-title">
        <h3 id="day-${day}-title">${dayName(day, model.now)}</h3>
        <ol class="events" data-sets="event">
          ${events.map((event) => row(event, columns, hrefOf({ event: event.id }), event.id === view.event))}
        </ol>
      </section>`,
  )}
  ${more(model, list, above + list.events.length)}`;
}

/**
 * The id of an event's row in the page. Several reporters may use the same event id, so the reporter is a
 * part of it; the dot between them occurs in no event id.
 */
export function rowId({
  id,
  reported_by: reporter,
}: Pick<AuditEvent, "id" | "reported_by">): string {
  return reporter === undefined ? `row-${id}` : `row-${id}·${reporter}`;
}

function row(
  event: AuditEvent,
  columns: readonly AuditColumn[],
  href: string,
  isOpen: boolean,
): Html {
  const { timestamp, reason } = event;
  const isDenied = event.policy_decision === "DENIED" || event.observed_decision === "DENIED";
  const exact = exactly(timestamp);
  return html`<li id="${rowId(event)}">
    <a class="row" href="${href}" ${isOpen ? html`aria-current="true"` : undefined}>
      <time datetime="${timestamp}" title="${exact}">${exact.slice(11, 19)}</time>
      ${decisionBadge(event)}
      ${
        isDenied && reason !== undefined && !columns.includes("reason")
          ? html`<span class="what"
              ><code>${whatRan(event)}</code
              ><span class="why">${withMarks(shorten(oneLine(reason), REASON_LENGTH))}</span></span
            >`
          : html`<code>${whatRan(event)}</code>`
      }
    </a>
    ${columnCells(event, columns)}
  </li>`;
}

function whatRan(event: AuditEvent): HtmlValue {
  const line = shorten(oneLine(subjectOf(event)), COMMAND_LENGTH);
  return line.trim() === "" ? "(blank)" : withMarks(line);
}

/** Joins the lines of a text; looks only at the part that can be shown. */
function oneLine(text: string): string {
  return text.slice(0, 4 * COMMAND_LENGTH).replace(/\s+/g, " ");
}

function more(
  { view, query }: AuditModel,
  { next_cursor: cursor, total }: AuditSlice,
  shown: number,
): Html {
  const isLater = view.cursor !== undefined;
  const next = {
    ...{ range: undefined, from: query.from, to: query.to },
    ...{ event: undefined, live: undefined, cursor },
  };
  return html`<div class="more">
    ${isLater ? html`<a class="button" href="${viewHref(view, { cursor: undefined, event: undefined })}">Newest</a>` : undefined}
    ${
      cursor === undefined
        ? html`<span class="faint">No older event matches</span>`
        : html`<a class="button" id="older" href="${viewHref(view, next)}">Load older events</a>
            ${isLater ? undefined : html`<span class="faint small">${count(shown)} of ${count(total)}</span>`}`
    }
  </div>`;
}

function nothing(model: AuditModel): Html {
  const { view, waysOut = [] } = model;
  const filters = filtersOf(view);
  const isTimed = view.from !== undefined || view.to !== undefined || view.range !== undefined;
  if (filters.length === 0 && !isTimed) {
    return emptyState(
      "No commands yet",
      "A runtime reports each command that it allowed or denied. To report one by hand:",
      reportRequest(model),
    );
  }
  return html`<div class="empty">
    <strong>Nothing matches</strong>
    ${
      waysOut.length > 0
        ? html`<p>Events match with one of these changes:</p>
            <ul class="ways-out">
              ${waysOut.map((way) => wayOut(way, view))}
            </ul>`
        : html`<p>
            Dropping a single filter does not help. <a href="${viewHref({})}">Show everything</a>,
            and narrow it again.
          </p>`
    }
  </div>`;
}

function wayOut({ drop, inPart, total }: WayOut, view: AuditView): Html {
  const found = html`<span class="faint">${counted(total, "event")}</span>`;
  if (drop === "range") {
    return html`<li>
      <a href="${viewHref(view, ALL_TIME)}" data-sets="${setsAnew("range", "from", "to")}"
        >Look over all time</a
      >
      ${found}
    </li>`;
  }
  const href = viewHref(view, { ...(inPart ?? { [drop]: undefined }), ...ANEW });
  const value = inPart?.[drop] ?? view[drop] ?? "";
  return html`<li>
    <a href="${href}" data-sets="${setsAnew(drop, "wildcards")}"
      >${inPart ? "Look for" : "Drop"} ${FILTER_WORDS[drop].toLowerCase()}
      <code>${shorten(valueWords(drop, value), NAME_LENGTH)}</code></a
    >
    ${found}
  </li>`;
}

function byDay(events: readonly AuditEvent[]): readonly (readonly [string, AuditEvent[]])[] {
  const days = new Map<string, AuditEvent[]>();
  for (const event of events) {
    const day = exactly(event.timestamp).slice(0, 10);
    const own = days.get(day);
    if (own) own.push(event);
    else days.set(day, [event]);
  }
  return [...days];
}

/** The name of a day in the shown zone. */
function dayName(date: string, now: number): string {
  const moment = new Date(`${date}T00:00:00Z`);
  const name = `${WEEKDAYS[moment.getUTCDay()]}, ${moment.getUTCDate()} ${MONTHS[moment.getUTCMonth()]} ${date.slice(0, 4)}`;
  const distance = Math.floor(wallClock(now) / DAY_MS) - moment.getTime() / DAY_MS;
  const day = distance === 0 ? "Today · " : distance === 1 ? "Yesterday · " : "";
  return `${day}${name} · ${zoneWords()}`;
}
