/**
 * Makes the stored event from a reported one: takes values from aliases, checks them and fills the gaps.
 * This code runs for every event of every batch, so it names each field and always builds objects with the
 * same keys in the same order: a loop over the table of fields took twice as long, one microsecond more for
 * each event. The table has the aliases and limits, and the compiler demands a line here for each of its rows.
 */
import type { Consumer, Decision } from "../core/decision.ts";
import { BadInput } from "../core/errors.ts";
import { firstBytes } from "../core/first-bytes.ts";
import type { IdSource } from "../core/ids.ts";
import { canonicalTimestamp, formatTimestamp } from "../core/time.ts";
import { isObject, pathOf } from "../core/validate.ts";
import {
  EVENT_FIELDS,
  recordOf,
  type REDACTED_FIELDS,
  REPORTED_FIELDS,
  SHORT_TEXT,
  type EventField,
  type EventFieldName,
} from "./event-fields.ts";
import { EVENT_ID, RESERVED_IDS, type AuditEvent } from "./schema.ts";

const CLIENT_ID = new RegExp(EVENT_ID.pattern);
const RESERVED: ReadonlySet<string> = new Set(RESERVED_IDS);

/** The properties of a field for ingest. All objects have one shape, which keeps their use fast. */
interface ReportedField {
  readonly name: EventFieldName;
  readonly alias: string | undefined;
  readonly limit: number;
}

const FIELD = recordOf<EventFieldName, ReportedField>(
  EVENT_FIELDS.map(({ name, alias, limit = 0 }: EventField) => [name, { name, alias, limit }]),
);

/** An event as a runtime sent it: an object with unchecked fields. */
export type RawEvent = Readonly<Record<string, unknown>>;

/** The data that the service adds to each event of one request. */
export interface IngestContext {
  readonly organization: string;
  /** Milliseconds; one moment for the whole request. */
  readonly now: number;
  readonly ids: IdSource;
  /** The id of the API key or user that reports; `undefined` without credentials. */
  readonly reporter?: string | undefined;
}

/** The fields of an event that are given values after the check. */
type Gap = "id" | "timestamp" | "consumer" | "ai" | "provider" | "status";
type TextName = (typeof REDACTED_FIELDS)[number];

/** A reported event that was checked but still has gaps. Its texts are as they were sent. */
export type CheckedEvent = Omit<AuditEvent, Gap | TextName> & {
  -readonly [Field in Gap | TextName]: AuditEvent[Field] | undefined;
};

/**
 * Makes a stored event from a reported one. A canonical name takes precedence over its alias, and
 * the alias is then not checked: a value that is not stored does not make an event invalid. Absent
 * optional fields are left out. Secrets stay in the texts: `drafting.ts` removes them.
 *
 * @param place where the event stands in the body: `""`, or `events[3]`
 * @throws BadInput naming the invalid field and what was expected
 */
export function ingestEvent(raw: unknown, place: string, context: IngestContext): AuditEvent {
  return completeEvent(checkEvent(raw, place, context), context);
}

/** The first half of `ingestEvent`: takes values from aliases and checks them. */
export function checkEvent(raw: unknown, place: string, context: IngestContext): CheckedEvent {
  if (!isObject(raw)) throw new BadInput(`${place || "The body"}: expected an audit event object`);

  const ingestedAt = formatTimestamp(context.now);
  const event = {
    id: clientId(raw, FIELD.id, place),
    organization_id: context.organization,
    timestamp: moment(raw, FIELD.timestamp, place),
    ingested_at: ingestedAt,
    command: text(raw, FIELD.command, place),
    executor: text(raw, FIELD.executor, place),
    consumer: consumerOf(raw, FIELD.consumer, place),
    ai: flag(raw, FIELD.ai, place),
    provider: text(raw, FIELD.provider, place),
    capability: text(raw, FIELD.capability, place),
    resource: text(raw, FIELD.resource, place),
    policy_decision: decisionOf(raw, FIELD.policy_decision, place),
    policy: text(raw, FIELD.policy, place),
    reason: text(raw, FIELD.reason, place),
    status: text(raw, FIELD.status, place),
    message: text(raw, FIELD.message, place),
    duration_ms: durationOf(raw, FIELD.duration_ms, place),
    runtime_name: text(raw, FIELD.runtime_name, place),
    runtime_version: text(raw, FIELD.runtime_version, place),
    runtime_context: text(raw, FIELD.runtime_context, place),
    trace_id: text(raw, FIELD.trace_id, place),
    transport: text(raw, FIELD.transport, place),
    observed_decision: decisionOf(raw, FIELD.observed_decision, place),
    reported_by: context.reporter,
  } satisfies Record<EventFieldName, unknown>;
  if (
    event.command === undefined &&
    REPORTED_FIELDS.every(({ name }) => event[name] === undefined)
  ) {
    throw new BadInput(`${place || "The body"}: an audit event needs a known field`);
  }
  return event as CheckedEvent;
}

/** The second half of `ingestEvent`: fills the gaps. */
export function completeEvent(event: CheckedEvent, context: IngestContext): AuditEvent {
  event.id ??= context.ids();
  event.timestamp ??= event.ingested_at;
  event.consumer ??= event.ai === true ? "ai" : "human";
  event.ai ??= event.consumer === "ai";
  if (event.command !== undefined) event.provider ??= firstWord(event.command);
  event.status ??= statusOf(event.policy_decision);
  return event as AuditEvent;
}

/** Whether a reported event has its own id. */
export function hasId(raw: unknown): boolean {
  return isObject(raw) && !isAbsent(raw["id"]);
}

/**
 * The first word of a command, which names the program; `undefined` for blank text. A word that
 * exceeds the limit of a provider is cut between two characters.
 */
export function firstWord(command: string): string | undefined {
  const trimmed = command.trimStart();
  const end = trimmed.search(/\s/);
  const word = end === -1 ? trimmed : trimmed.slice(0, end);
  return firstBytes(word, SHORT_TEXT) || undefined;
}

function statusOf(decision: Decision | undefined): string {
  if (decision === undefined) return "unknown";
  return decision === "ALLOWED" ? "allowed" : "denied";
}

function text(raw: RawEvent, field: ReportedField, place: string): string | undefined {
  const { name, alias, limit } = field;
  let value = raw[name];
  let given = name as string;
  if (alias !== undefined && isAbsent(value)) {
    given = alias;
    value = raw[alias];
  }
  if (isAbsent(value)) return undefined;
  if (typeof value !== "string") refuse(place, given, "expected a string");
  // A string of n code units takes at most 3n bytes, so most need no counting.
  if (value.length * 3 > limit && Buffer.byteLength(value) > limit) {
    refuse(place, given, `expected at most ${limit / 1024} KiB of text`);
  }
  return value;
}

/** The name that a report uses for a field: the field's own name, unless only the alias can have a value. */
function givenName(raw: RawEvent, { name, alias }: ReportedField): string {
  return alias !== undefined && isAbsent(raw[name]) ? alias : name;
}

function isAbsent(value: unknown): value is undefined | null | "" {
  return value === undefined || value === null || value === "";
}

function clientId(raw: RawEvent, field: ReportedField, place: string): string | undefined {
  const given = givenName(raw, field);
  const value = raw[given];
  if (isAbsent(value)) return undefined;
  if (typeof value !== "string" || value.length > EVENT_ID.maxLength || !CLIENT_ID.test(value)) {
    refuse(place, given, "expected 1 to 128 printable ASCII characters without space");
  }
  if (RESERVED.has(value)) refuse(place, given, `${JSON.stringify(value)} is reserved`);
  return value;
}

function moment(raw: RawEvent, field: ReportedField, place: string): string | undefined {
  const given = givenName(raw, field);
  const value = raw[given];
  if (isAbsent(value)) return undefined;
  const timestamp = typeof value === "string" ? canonicalTimestamp(value) : undefined;
  if (timestamp === undefined) {
    refuse(place, given, "expected an RFC 3339 date and time, such as 2026-01-31T12:00:00Z");
  }
  return timestamp;
}

function consumerOf(raw: RawEvent, field: ReportedField, place: string): Consumer | undefined {
  const given = givenName(raw, field);
  const value = raw[given];
  if (value === "human" || value === "ai" || value === "ci") return value;
  if (isAbsent(value)) return undefined;
  const lower = typeof value === "string" ? value.toLowerCase() : "";
  if (lower === "human" || lower === "ai" || lower === "ci") return lower;
  return refuse(place, given, "expected human, ai or ci");
}

function decisionOf(raw: RawEvent, field: ReportedField, place: string): Decision | undefined {
  const given = givenName(raw, field);
  const value = raw[given];
  if (value === "ALLOWED" || value === "DENIED") return value;
  if (isAbsent(value)) return undefined;
  switch (typeof value === "string" ? value.toUpperCase() : "") {
    case "ALLOWED":
    case "ALLOW":
      return "ALLOWED";
    case "DENIED":
    case "DENY":
      return "DENIED";
    default:
      return refuse(place, given, "expected ALLOWED or DENIED");
  }
}

/** An empty text is a wrong value here, not an absent one. */
function flag(raw: RawEvent, { name }: ReportedField, place: string): boolean | undefined {
  const value = raw[name];
  if (typeof value === "boolean") return value;
  if (value === undefined || value === null) return undefined;
  return refuse(place, name, "expected true or false");
}

/** An empty text is a wrong value here, not an absent one. */
function durationOf(
  raw: RawEvent,
  { name, alias }: ReportedField,
  place: string,
): number | undefined {
  const given = alias !== undefined && (raw[name] ?? undefined) === undefined ? alias : name;
  const value = raw[given] ?? undefined;
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    refuse(place, given, "expected a whole number of milliseconds, 0 or more");
  }
  return (value as number) + 0; // turns -0 into 0
}

function refuse(place: string, name: string, expectation: string): never {
  throw new BadInput(`${pathOf(place, name)}: ${expectation}`);
}
