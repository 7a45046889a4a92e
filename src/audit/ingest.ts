/**
 * Turns a reported event into a stored one: folds names, checks values, sets defaults, in one pass
 * over the known fields. This is the hot path of the service: it runs for every event of every batch.
 * So it is written out by hand, and always builds objects with the same keys in the same order.
 */
import { BadInput } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { formatTimestamp, parseTimestamp } from "../core/time.ts";
import { isObject, pathOf } from "../core/validate.ts";
import { EVENT_ID, type AuditEvent, type Consumer, type Decision } from "./schema.ts";

export const LONG_TEXT = 1 << 20; // 1 MiB, for free text
export const SHORT_TEXT = 64 * 1024;
const CLIENT_ID = new RegExp(EVENT_ID.pattern);
// These would be read as routes below `/audit/`.
const RESERVED_IDS: ReadonlySet<string> = new Set(["export", "stream", "histogram"]);

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

/**
 * Makes a stored event from a reported one. A canonical name takes precedence over its alias, and
 * the alias is then not checked: a value that is not stored does not make an event invalid. Absent
 * optional fields are left out.
 *
 * @param place where the event stands in the body: `""`, or `events[3]`
 * @throws BadInput naming the invalid field and what was expected
 */
export function ingestEvent(raw: unknown, place: string, context: IngestContext): AuditEvent {
  if (!isObject(raw)) throw new BadInput(`${place || "The body"}: expected an audit event object`);

  const id = clientId(raw["id"], place);
  const timestamp = moment(raw["timestamp"], place);
  const command = text(raw, "command", undefined, place, LONG_TEXT);
  const executor = text(raw, "executor", "user", place, SHORT_TEXT);
  const consumer = consumerOf(raw["consumer"], place);
  const ai = flag(raw["ai"], place);
  const provider = text(raw, "provider", "tool", place, SHORT_TEXT);
  const capability = text(raw, "capability", undefined, place, SHORT_TEXT);
  const resource = text(raw, "resource", "repository", place, SHORT_TEXT);
  const decision = decisionOf(raw, place);
  const policy = text(raw, "policy", "policyVersion", place, SHORT_TEXT);
  const reason = text(raw, "reason", undefined, place, LONG_TEXT);
  const status = text(raw, "status", undefined, place, SHORT_TEXT);
  const message = text(raw, "message", undefined, place, LONG_TEXT);
  const duration = durationOf(raw, place);
  const runtimeName = text(raw, "runtime_name", "runtimeName", place, SHORT_TEXT);
  const runtimeVersion = text(raw, "runtime_version", "runtimeVersion", place, SHORT_TEXT);
  const runtimeContext = text(raw, "runtime_context", undefined, place, SHORT_TEXT);
  const traceId = text(raw, "trace_id", "traceId", place, SHORT_TEXT);
  const transport = text(raw, "transport", undefined, place, SHORT_TEXT);

  const isEmpty =
    id === undefined &&
    timestamp === undefined &&
    command === undefined &&
    executor === undefined &&
    consumer === undefined &&
    ai === undefined &&
    provider === undefined &&
    capability === undefined &&
    resource === undefined &&
    decision === undefined &&
    policy === undefined &&
    reason === undefined &&
    status === undefined &&
    message === undefined &&
    duration === undefined &&
    runtimeName === undefined &&
    runtimeVersion === undefined &&
    runtimeContext === undefined &&
    traceId === undefined &&
    transport === undefined;
  if (isEmpty) throw new BadInput(`${place || "The body"}: an audit event needs a known field`);

  const ingestedAt = formatTimestamp(context.now);
  const actualConsumer = consumer ?? (ai === true ? "ai" : "human");
  // JSON omits undefined values; this is the order of fields in the log.
  return {
    id: id ?? context.ids(),
    organization_id: context.organization,
    timestamp: timestamp ?? ingestedAt,
    ingested_at: ingestedAt,
    command,
    executor,
    consumer: actualConsumer,
    ai: ai ?? actualConsumer === "ai",
    provider: provider ?? (command === undefined ? undefined : firstWord(command)),
    capability,
    resource,
    policy_decision: decision,
    policy,
    reason,
    status: status ?? statusOf(decision),
    message,
    duration_ms: duration,
    runtime_name: runtimeName,
    runtime_version: runtimeVersion,
    runtime_context: runtimeContext,
    trace_id: traceId,
    transport,
    reported_by: context.reporter,
  };
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
  if (word.length <= SHORT_TEXT / 3) return word || undefined; // a code unit takes at most three bytes
  const { read } = new TextEncoder().encodeInto(word, new Uint8Array(SHORT_TEXT));
  return word.slice(0, read);
}

function statusOf(decision: Decision | undefined): string {
  if (decision === undefined) return "unknown";
  return decision === "ALLOWED" ? "allowed" : "denied";
}

function text(
  raw: RawEvent,
  name: string,
  alias: string | undefined,
  place: string,
  limit: number,
): string | undefined {
  let value = raw[name];
  let given = name;
  if (alias !== undefined && isAbsent(value)) {
    value = raw[alias];
    given = alias;
  }
  if (isAbsent(value)) return undefined;
  if (typeof value !== "string") refuse(place, given, "expected a string");
  // A string of n code units takes at most 3n bytes, so most need no counting.
  if (value.length * 3 > limit && Buffer.byteLength(value) > limit) {
    refuse(place, given, `expected at most ${limit / 1024} KiB of text`);
  }
  return value;
}

function isAbsent(value: unknown): value is undefined | null | "" {
  return value === undefined || value === null || value === "";
}

function clientId(value: unknown, place: string): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== "string" || value.length > EVENT_ID.maxLength || !CLIENT_ID.test(value)) {
    refuse(place, "id", "expected 1 to 128 printable ASCII characters without space");
  }
  if (RESERVED_IDS.has(value)) refuse(place, "id", `${JSON.stringify(value)} is reserved`);
  return value;
}

function moment(value: unknown, place: string): string | undefined {
  if (isAbsent(value)) return undefined;
  const ms = typeof value === "string" ? parseTimestamp(value) : undefined;
  if (ms === undefined) {
    refuse(place, "timestamp", "expected an RFC 3339 date and time, such as 2026-01-31T12:00:00Z");
  }
  return formatTimestamp(ms);
}

function consumerOf(value: unknown, place: string): Consumer | undefined {
  if (value === "human" || value === "ai" || value === "ci") return value;
  if (isAbsent(value)) return undefined;
  const lower = typeof value === "string" ? value.toLowerCase() : "";
  if (lower === "human" || lower === "ai" || lower === "ci") return lower;
  return refuse(place, "consumer", "expected human, ai or ci");
}

function flag(value: unknown, place: string): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === undefined || value === null) return undefined;
  return refuse(place, "ai", "expected true or false");
}

function decisionOf(raw: RawEvent, place: string): Decision | undefined {
  const isAlias = isAbsent(raw["policy_decision"]);
  const value = isAlias ? raw["decision"] : raw["policy_decision"];
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
      return refuse(place, isAlias ? "decision" : "policy_decision", "expected ALLOWED or DENIED");
  }
}

function durationOf(raw: RawEvent, place: string): number | undefined {
  const isAlias = raw["duration_ms"] === undefined || raw["duration_ms"] === null;
  const value = isAlias ? raw["durationMs"] : raw["duration_ms"];
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    refuse(
      place,
      isAlias ? "durationMs" : "duration_ms",
      "expected a whole number of milliseconds, 0 or more",
    );
  }
  return (value as number) + 0; // turns -0 into 0
}

function refuse(place: string, name: string, expectation: string): never {
  throw new BadInput(`${pathOf(place, name)}: ${expectation}`);
}
