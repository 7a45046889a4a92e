import {
  EVENT_FIELDS,
  REDACTED_FIELDS,
  type EventField,
  type EventFieldName,
} from "../../audit/event-fields.ts";
import type { AuditEvent } from "../../audit/schema.ts";
import { MINUTE_MS } from "../../core/clock.ts";
import { pathSegment } from "../../core/path-segment.ts";
import { canDraft } from "../../policies/draft-event.ts";
import { count, counted, exactly, shorten } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";
import { FIELD_LINKS, reasonLink } from "../page-link.ts";
import type { AuditModel } from "./audit-source.ts";
import {
  ANEW,
  repeatedHref,
  setsAnew,
  valueWords,
  viewHref,
  type AuditView,
} from "./audit-view.ts";
import { ifAllowed } from "../withheld.ts";
import { marksIn, withMarks } from "../redacted.ts";
import { unbroken } from "../unbroken.ts";
import { apiPath, decisionBadge, timeAgo } from "./parts.ts";

/** The length of the part of a text that is shown at once. */
const SHOWN_LENGTH = 10_000;
const LONGEST_FILTER = 500;
const AROUND_MS = 5 * MINUTE_MS;

/** Shown above the table of fields. */
const ABOVE: readonly EventFieldName[] = ["timestamp", "policy_decision", "command"];
const FIRST: readonly EventFieldName[] = ["reason", "message"];
const LAST: readonly EventFieldName[] = ["ingested_at", "id", "organization_id"];

/** All other fields of an event in reading order. */
const FIELDS: readonly EventField[] = EVENT_FIELDS.filter(({ name }) => !ABOVE.includes(name)).sort(
  (a, b) => rankOf(a.name) - rankOf(b.name),
);

function rankOf(name: EventFieldName): number {
  if (FIRST.includes(name)) return 0;
  return LAST.includes(name) ? 2 : 1;
}

type PanelModel = Pick<AuditModel, "view" | "open" | "now" | "apiUrl" | "withheld">;

/** Renders one event with all its fields. The open event is part of the address. */
export function auditEventPanel(model: PanelModel): Html | undefined {
  const { view, open, now, apiUrl } = model;
  if (!open) return undefined;
  const close = html`<a
    class="button quiet"
    id="close-event"
    href="${viewHref(view, { event: undefined })}"
    data-sets="event"
    >Close <kbd class="no-touch">Esc</kbd></a
  >`;
  if (!("event" in open)) {
    return html`<aside class="card event" id="audit-event" aria-labelledby="event-title">
      <header>
        <h2 id="event-title" tabindex="-1">
          ${open.isLost ? "The event could not be loaded" : "No such event"}
        </h2>
        ${close}
      </header>
      <p class="inside">${open.problem}</p>
      ${open.isLost ? html`<p class="inside"><button type="button" id="retry-event">Try again</button></p>` : undefined}
    </aside>`;
  }
  const { event, isCut } = open;
  return html`<aside
    class="card event"
    id="audit-event"
    data-event="${event.id}"
    aria-labelledby="event-title"
  >
    <header>
      <h2 id="event-title" tabindex="-1">
        <span class="visually-hidden">Event: </span>${decisionBadge(event)}
      </h2>
      ${close}
    </header>
    <div class="inside">
      <p class="when">
        ${exactly(event.timestamp)} <span class="faint">${timeAgo(event.timestamp, now)}</span>
        <a class="small" href="${aroundHref(event)}">What happened around it</a>
      </p>
      ${isCut ? cutNotice(event, apiUrl) : undefined} ${command(event)} ${redactionNotice(event)}
      ${ifAllowed(model, "POST /policies", drafts(event))}
      <dl class="facts fields">${FIELDS.map((field) => fact(event, field, view))}</dl>
      ${rawJson(event)}
      <div id="event-proof" data-keep>${open.proof}</div>
    </div>
  </aside>`;
}

/** The notice with a link to the whole event. */
function cutNotice({ id }: AuditEvent, apiUrl: string): Html {
  return html`<p class="notice">
    Long texts of this event end in “…” here.
    <a href="${apiPath({ apiUrl })}/audit/${pathSegment(id)}">Show the whole event as JSON</a>
  </p>`;
}

/** Says how many secrets the texts of an event had. */
function redactionNotice(event: AuditEvent): Html | undefined {
  const marks = marksIn(REDACTED_FIELDS.map((field) => event[field]));
  if (marks === 0) return undefined;
  return html`<p class="faint small">
    ${counted(marks, "secret")} taken out before this event was stored
  </p>`;
}

function command(event: AuditEvent): Html {
  if (event.command === undefined) {
    return html`<p class="faint">This event has no command.</p>`;
  }
  return html`<div class="whole">
    ${longText(event.command, "Command")}
    <button type="button" data-copy aria-label="Copy the command">Copy</button>
  </div>`;
}

/** Renders a long text: its beginning, and the rest behind a disclosure. */
function longText(text: string, name: string): Html {
  // The cut must not split a surrogate pair.
  const isPair = /[\ud800-\udbff]/.test(text.charAt(SHOWN_LENGTH - 1));
  const end = isPair ? SHOWN_LENGTH + 1 : SHOWN_LENGTH;
  const [shown, rest] = [text.slice(0, end), text.slice(end)];
  return html`${region(name, withMarks(shown, unbroken))}
  ${
    rest === ""
      ? undefined
      : html`<details class="rest" id="rest-${name.toLowerCase()}">
          <summary>The other ${count(rest.length)} characters</summary>
          ${region(`${name}, the rest`, withMarks(rest))}
        </details>`
  }`;
}

/** A text that scrolls, by keys too. */
function region(name: string, text: HtmlValue): Html {
  return html`<pre tabindex="0" role="region" aria-label="${name}"><code>${text}</code></pre>`;
}

/** The buttons that draft a rule. They need modules, since the draft is handed over within the tab. */
function drafts(event: AuditEvent): Html | undefined {
  if (!canDraft(event)) return undefined;
  const isDenied = event.policy_decision === "DENIED";
  const button = (effect: string, word: string): Html =>
    html`<button type="button" data-draft="${effect}">${word}</button>`;
  const allow = button("allow", "allows it");
  const deny = button("deny", "denies it");
  return html`<div class="drafts needs-modules" role="group" aria-labelledby="drafts-title">
    <span class="faint small" id="drafts-title">Draft a rule that</span>
    ${isDenied ? [allow, deny] : [deny, allow]}
    <button type="button" class="quiet" data-draft="collect">Collect</button>
  </div>`;
}

function fact(
  event: AuditEvent,
  { name, label: word, filter, isSearched }: EventField,
  view: AuditView,
): Html | undefined {
  const value = event[name];
  if (value === undefined) return undefined;
  const text = String(value);
  const parameter = filter ?? (isSearched ? "q" : name === "reason" ? name : undefined);
  const canFilter = parameter !== undefined && text !== "" && text.length <= LONGEST_FILTER;
  return html`<dt>${word}</dt>
    <dd>
      ${text.length > LONGEST_FILTER ? html`<div class="whole">${longText(text, word)}</div>` : shortValue(event, name, text)}
      <span class="does">
        ${
          canFilter
            ? html`<a
                href="${repeatedHref(view, { [parameter]: text, ...ANEW })}"
                data-sets="${setsAnew(parameter)}"
                aria-label="Only events with ${word.toLowerCase()} ${shorten(text, 60)}"
                >Filter</a
              >`
            : undefined
        }
        <button
          type="button"
          class="quiet no-touch"
          data-copy
          aria-label="Copy ${word.toLowerCase()}"
        >
          Copy
        </button>
      </span>
    </dd>`;
}

/** The page of the thing that a field names. */
const PAGES: {
  readonly [field in EventFieldName]?: (value: string, event: AuditEvent) => string | undefined;
} = {
  ...FIELD_LINKS,
  // The rule that gave the reason, if the version has exactly one such rule.
  reason: (text, { policy }) => policy && reasonLink(policy, text),
};

/** Renders a value. A time and a number are shown for people; their copies are the stored values. */
function shortValue(event: AuditEvent, field: keyof AuditEvent, text: string): Html {
  const href = text === "" ? undefined : PAGES[field]?.(text, event);
  if (href !== undefined) {
    return html`<span
      ><a href="${href}"><code>${withMarks(text)}</code></a></span
    >`;
  }
  if (field === "ingested_at") {
    return html`<span><code data-value="${text}">${exactly(text)}</code></span>`;
  }
  if (field === "observed_decision" || field === "consumer" || field === "ai") {
    return html`<span><code data-value="${text}">${valueWords(field, text)}</code></span>`;
  }
  if (field !== "duration_ms") return html`<span><code>${withMarks(text)}</code></span>`;
  return html`<span><code data-value="${text}">${count(Number(text))}</code> ms</span>`;
}

function rawJson(event: AuditEvent): Html {
  return html`<details class="raw" id="event-json">
    <summary>Raw JSON</summary>
    <div class="whole">
      ${region("The event as JSON", JSON.stringify(event, null, 2))}
      <button type="button" data-copy aria-label="Copy the JSON">Copy</button>
    </div>
  </details>`;
}

function aroundHref({ id, timestamp }: AuditEvent): string {
  const moment = Date.parse(timestamp);
  const at = (ms: number): string => new Date(ms).toISOString();
  return viewHref({ from: at(moment - AROUND_MS), to: at(moment + AROUND_MS), event: id });
}
