import { dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";
import {
  EVENT_FIELDS,
  LONG_TEXT,
  recordOf,
  REPORTED_FIELDS,
  type EventField,
  type EventFieldName,
  type EventFieldType,
} from "./event-fields.ts";

const decisions = ["ALLOWED", "DENIED"] as const;
const consumers = ["human", "ai", "ci"] as const;

export type Decision = (typeof decisions)[number];
export type Consumer = (typeof consumers)[number];
export { consumers, decisions };

/** The ids of events: printable ASCII without spaces. */
export const EVENT_ID = { pattern: "^[!-~]+$", minLength: 1, maxLength: 128 } as const;

/** The schema of each type of field in a stored event. */
const SHAPES = {
  id: { type: "string" },
  text: { type: "string" },
  timestamp: { type: "string", format: "date-time" },
  consumer: { type: "string", enum: consumers },
  boolean: { type: "boolean" },
  decision: { type: "string", enum: decisions },
  milliseconds: { type: "integer", minimum: 0 },
} as const satisfies Readonly<Record<EventFieldType, Schema>>;

/** Each field of a stored event. */
const DESCRIPTIONS: Readonly<Record<EventFieldName, string>> = {
  id: "The client's own id, or one generated at ingest; generated ids sort by time.",
  organization_id: "The organization the event belongs to.",
  timestamp: "When the command ran; the time of ingest where the client gave none.",
  ingested_at: "When the event arrived here.",
  command: "The full text of the command.",
  executor: "Who ran the command.",
  consumer: "What kind of caller ran it.",
  ai: "Whether an AI agent ran it.",
  provider: "The program or service that was used; the command's first word where absent.",
  capability: "The capability used, `<provider>/<name>`.",
  resource: "What the command acted on.",
  policy_decision: "What the policy decided.",
  policy: "The policy version that decided.",
  reason: "Why the policy decided so.",
  status: "How it ended: `allowed`, `denied` or `unknown` where the client gave nothing.",
  message: "Anything the runtime adds for people.",
  duration_ms: "How long it ran, in milliseconds.",
  runtime_name: "The runtime that reported the event.",
  runtime_version: "That runtime's version.",
  runtime_context: "Where it ran: a shell, a pipeline, a session.",
  trace_id: "Joins the events of one piece of work.",
  transport: "How the event reached the service.",
  reported_by:
    "The id of the API key or user that reported the event, set by the service; absent where the " +
    "report came without credentials.",
};

/** The fields that a report describes in another way: by its default, or by what it accepts. */
const REPORT_DESCRIPTIONS: Readonly<Partial<Record<EventFieldName, string>>> = {
  id: "1 to 128 printable ASCII characters; makes it safe to send the event again.",
  timestamp: "Default: the time of ingest.",
  consumer: "In any letter case. Default: `ai` where `ai` is true, else `human`.",
  ai: "Default: whether `consumer` is `ai`.",
  provider: "Default: the first word of `command`.",
  policy_decision: "In any letter case; `allow` and `deny` are understood too.",
  status: "Default: `allowed`, `denied`, or `unknown` without a decision.",
};

/** An event as it is stored and answered: one shape for the log, the wire and the rules. */
export const auditEvent = {
  title: "AuditEvent",
  type: "object",
  description: "One command that a runtime allowed or denied.",
  required: ["id", "organization_id", "timestamp", "ingested_at", "consumer", "ai", "status"],
  properties: recordOf(
    EVENT_FIELDS.map(({ name, type }) => [
      name,
      { ...SHAPES[type], description: DESCRIPTIONS[name] },
    ]),
  ) as {
    readonly [
      Field in (typeof EVENT_FIELDS)[number] as Field["name"]
    ]: (typeof SHAPES)[Field["type"]];
  },
} as const satisfies Schema;
export type AuditEvent = Infer<typeof auditEvent>;

/** A runtime's report: canonical names and the aliases that older runtimes send. */
const reportedEvent = {
  title: "AuditEventReport",
  type: "object",
  description:
    "An event as a runtime reports it. At least one field is needed; a canonical name wins over its alias, which is not looked at then.",
  properties: Object.fromEntries(REPORTED_FIELDS.flatMap(reportedProperties)),
} as const satisfies Schema;

function reportedProperties({ name, alias, type, limit }: EventField): readonly [string, Schema][] {
  const shape = type === "id" ? { ...SHAPES.id, maxLength: 128, ruled: EVENT_ID } : SHAPES[type];
  const size = limit === LONG_TEXT ? " Up to 1 MiB." : "";
  const description = (REPORT_DESCRIPTIONS[name] ?? DESCRIPTIONS[name]) + size;
  const field = [name, { ...shape, description }] as [string, Schema];
  return alias === undefined
    ? [field]
    : [field, [alias, { ...shape, description: `Alias of \`${name}\`.` }]];
}

const auditBatch = object({
  title: "AuditBatch",
  description: "Several events, stored all or none.",
  properties: { events: list("The events, in order.", reportedEvent) },
});

/** The body of a report: one event by itself, or a batch. */
export const auditIngest = {
  title: "AuditIngest",
  description: "One event, or a batch of them.",
  anyOf: [reportedEvent, auditBatch],
} as const satisfies Schema;

/** The answer to a batch. */
export const auditBatchResult = object({
  title: "AuditBatchResult",
  description: "What became of a batch.",
  properties: {
    accepted: integer("How many events were sent."),
    events: list("The events as they are stored.", auditEvent),
  },
});

/** A page of events. */
export const auditPage = object({
  title: "AuditPage",
  description: "One page of the events that match, newest first.",
  optional: ["next_cursor"],
  properties: {
    events: list("Newest `timestamp` first.", auditEvent),
    limit: integer("The limit that was used."),
    offset: integer("The offset that was used."),
    returned: integer("How many events are in this page."),
    total: integer("How many events match, before paging."),
    next_cursor: string("The `cursor` of the next page; absent where no event is left."),
  },
});

/** The possible lengths of a histogram's buckets. */
export const intervals = ["1m", "1h", "1d"] as const;
export type Interval = (typeof intervals)[number];

const bucket = object({
  title: "AuditHistogramBucket",
  description: "How many events fell into one interval.",
  properties: {
    start: dateTime("Where the interval begins, in UTC."),
    allowed: integer("Events that were allowed."),
    denied: integer("Events that were denied."),
    other: integer("Events without a decision."),
  },
});

/** Events over time. */
export const auditHistogram = object({
  title: "AuditHistogram",
  description: "Events over time, by decision.",
  properties: {
    interval: word("How long each bucket is.", intervals),
    buckets: list("Oldest first, without gaps; those without events are there too.", bucket),
  },
});
export type Histogram = Infer<typeof auditHistogram>;
