/** Events in the form in which they are sent to the database. */
import { createHash } from "node:crypto";
import type { AuditEvent } from "../../../audit/schema.ts";
import { isListed } from "../../../audit/facets.ts";
import { DAY_MS } from "../../../core/clock.ts";
import { parseTimestamp } from "../../../core/time.ts";
import type { Work } from "../../../core/scheduling/work.ts";
import { fromText, isSafeJson, SEPARATOR, toText } from "../text.ts";

/** Ends each searched field. It cannot be part of a text: there it is always followed by a digit (see `text.ts`). */
const FIELD_END = "\uFDE0";
/** The most bytes of a key, which an index of the database can always store. */
const MOST_KEY_BYTES = 1_024;

/** The events that are turned into columns in one part. */
const EVENTS_AT_ONCE = 256;

/** The columns of `audit_events` that are sent as texts, in the order in which every statement names them. */
export const EVENT_COLUMNS = [
  ...(["day", "time_ms", "ai", "decision", "consumer", "provider", "executor"] as const),
  ...(["capability", "status", "runtime_name", "trace_id", "policy", "reported_by"] as const),
  ...(["observed_decision", "search", "line"] as const),
] as const;

/** An event that is to be stored, as the columns of the database. */
export interface NewEvent {
  /**
   * The identity of the event, of organization, id and reporter, if the client chose the id: then the event may have
   * been sent before.
   */
  readonly key: string | undefined;
  readonly organization_id: string;
  readonly id: string;
  readonly day: string;
  readonly time_ms: number;
  readonly ai: boolean;
  readonly decision: string | undefined;
  readonly consumer: string | undefined;
  readonly provider: string | undefined;
  readonly executor: string | undefined;
  readonly capability: string | undefined;
  readonly status: string;
  readonly runtime_name: string | undefined;
  readonly trace_id: string | undefined;
  readonly policy: string | undefined;
  readonly reported_by: string | undefined;
  readonly observed_decision: string | undefined;
  readonly search: string;
  /** The event as it is stored and answered. */
  readonly line: string;
}

/**
 * Turns events into their columns and lines, in parts.
 *
 * @param named the ids that the client gave; without it all of them
 */
export function* newEventsOf(
  events: readonly AuditEvent[],
  named: ReadonlySet<string> | undefined,
): Work<readonly NewEvent[]> {
  const made: NewEvent[] = [];
  for (const event of events) {
    made.push(newEventOf(event, named === undefined || named.has(event.id)));
    if (made.length % EVENTS_AT_ONCE === 0) yield;
  }
  return made;
}

/** Turns an event into its columns, and into its line unless the line is given. */
export function newEventOf(
  event: AuditEvent,
  isNamed: boolean,
  line = JSON.stringify(event),
): NewEvent {
  const { id, organization_id, reported_by = "" } = event;
  // Nearly every event is safe as it is, and one look at its line takes less than a look at each text.
  const column: typeof columnOf = isSafeJson(line) ? (text?: string) => text as string : columnOf;
  const q =
    searchedField(event.command, column) +
    searchedField(event.executor, column) +
    searchedField(event.resource, column) +
    searchedField(event.provider, column) +
    searchedField(event.capability, column);
  return {
    key: isNamed ? `${organization_id} ${id} ${reported_by}` : undefined,
    organization_id,
    id: toText(id),
    day: dayOf(parseTimestamp(event.ingested_at) ?? 0),
    time_ms: parseTimestamp(event.timestamp) ?? 0,
    ai: event.ai,
    decision: event.policy_decision,
    consumer: event.consumer,
    provider: column(event.provider),
    executor: column(event.executor),
    capability: column(event.capability),
    status: column(event.status),
    runtime_name: column(event.runtime_name),
    trace_id: column(event.trace_id),
    policy: column(event.policy),
    reported_by: column(event.reported_by),
    observed_decision: event.observed_decision,
    search: `${q}${SEPARATOR}${searchedField(event.reason, column)}`,
    line,
  };
}

function searchedField(text: string | undefined, column: typeof columnOf): string {
  return text === undefined ? "" : column(text.toLowerCase()) + FIELD_END;
}

/** The parts of the column `search`: the fields that `q` searches, and the reason. */
export const SEARCH_PARTS = {
  q: `split_part(search, '${SEPARATOR}', 1)`,
  reason: `split_part(search, '${SEPARATOR}', 2)`,
} as const;

/**
 * The form of a text in a column and in a filter. An unpaired surrogate becomes U+FFFD, as in every text that is
 * written in UTF-8.
 */
export function columnOf(text: string): string;
export function columnOf(text: string | undefined): string | undefined;
export function columnOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toText(text.toWellFormed());
}

/** The form of a text for searches: in lower case by the rules of JavaScript, not of the database's locale. */
export function searchForm(text: string): string {
  return columnOf(text.toLowerCase());
}

/** The name under which a provider is counted, as `audit_provider_key` in the database makes it. */
export function providerKey(provider: string): string {
  const column = columnOf(provider);
  if (Buffer.byteLength(column) <= MOST_KEY_BYTES) return column;
  return FIELD_END + createHash("sha256").update(column).digest("hex");
}

/** The provider that is counted under a key; `undefined` for a provider whose name is too long to be listed. */
export function providerOf(key: string): string | undefined {
  const name = /^\uFDE0[0-9a-f]/.test(key) ? undefined : fromText(key);
  return name !== undefined && isListed(name) ? name : undefined;
}

let cachedNumber = Number.NaN;
let cachedDay = "";

/** The day of a moment in UTC, as the database writes it. Caches the last day, since many events share it. */
export function dayOf(ms: number): string {
  const number = Math.floor(ms / DAY_MS);
  if (number !== cachedNumber) {
    cachedDay = new Date(ms).toISOString().slice(0, 10);
    cachedNumber = number;
  }
  return cachedDay;
}
