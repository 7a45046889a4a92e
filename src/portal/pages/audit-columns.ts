import { EVENT_FIELDS, type EventFieldName } from "../../audit/event-fields.ts";
import type { AuditEvent } from "../../audit/schema.ts";
import { count, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { valueWords } from "./audit-view.ts";
import { FIELD_LINKS } from "../page-link.ts";
import { withMarks } from "../redacted.ts";

const CHOICES = [
  ...["executor", "consumer", "runtime_name", "provider", "capability", "resource", "reason"],
  ...["policy", "status", "duration_ms", "transport", "trace_id", "reported_by"],
] as const satisfies readonly EventFieldName[];

/** A field of events that can be a column of the list. */
export type AuditColumn = (typeof CHOICES)[number];

/** The columns that can be chosen, in their order from left to right. */
export const AUDIT_COLUMNS: readonly AuditColumn[] = CHOICES;
/** The columns of a reader who has chosen none. */
export const USUAL_COLUMNS: readonly AuditColumn[] = ["executor", "runtime_name"];
/** The most columns at once: more would leave no room for the command. */
export const MOST_COLUMNS = 6;

const NAME_LENGTH = 60;
const TEXT_LENGTH = 200;

const LABELS = new Map(EVENT_FIELDS.map(({ name, label }) => [name, label]));

const PAGES: { readonly [column in AuditColumn]?: (value: string) => string } = FIELD_LINKS;

/**
 * The columns of an event's row. Their links lie above the link of the row, which fills the whole row. A link alone
 * has no element around it: the many elements of the rows take most of the time to the page's first paint.
 */
export function columnCells(event: AuditEvent, columns: readonly AuditColumn[]): Html {
  const showsConsumer = columns.includes("consumer");
  return html`<span class="cells"
    >${columns.map((column) => {
      const label = USUAL_COLUMNS.includes(column) ? undefined : LABELS.get(column);
      const kind =
        column === "executor" && !showsConsumer && event.consumer !== "human"
          ? html` <span class="kind">${event.consumer.toUpperCase()}</span>`
          : undefined;
      const content = cell(event, column);
      const isLinkAlone = content && PAGES[column] && !label && !kind;
      return isLinkAlone
        ? content
        : html`<span ${label && html`data-label="${label}"`}>${content}${kind}</span>`;
    })}</span
  >`;
}

function cell(event: AuditEvent, column: AuditColumn): Html | undefined {
  const value = event[column];
  if (value === undefined || value === "") return undefined;
  if (typeof value === "number") return html`${count(value)} ms`;
  if (column === "consumer") return html`${valueWords(column, value)}`;
  const page = PAGES[column];
  if (!page) return html`${withMarks(shorten(value.slice(0, 4 * TEXT_LENGTH), TEXT_LENGTH))}`;
  // The Tab key skips it: rows are the stops, and an open event has the same links.
  return html`<a href="${page(value)}" tabindex="-1">${shorten(value, NAME_LENGTH)}</a>`;
}

/** The headings above the rows. */
export function columnHeads(columns: readonly AuditColumn[]): Html {
  const words = ["Time", "Decision", "Command", ...columns.map((column) => LABELS.get(column))];
  return html`<div class="heads" aria-hidden="true">
    ${words.map((word) => html`<span>${word}</span>`)}
  </div>`;
}

/** The menu in which columns are chosen. */
export function columnsMenu(columns: readonly AuditColumn[]): Html {
  const isFull = columns.length >= MOST_COLUMNS;
  return html`<details class="menu needs-modules" id="columns">
    <summary class="button">Columns</summary>
    <fieldset class="card">
      <legend class="visually-hidden">Columns, at most ${MOST_COLUMNS}</legend>
      ${AUDIT_COLUMNS.map((column) => {
        const isShown = columns.includes(column);
        return html`<label>
          <input
            type="checkbox"
            name="column"
            value="${column}"
            ${isShown ? html` checked` : isFull ? html` disabled` : undefined}
          />
          ${LABELS.get(column)}
        </label>`;
      })}
    </fieldset>
  </details>`;
}
