import { consumers, decisions } from "../core/decision.ts";
import { boolean, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
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
import { FACETS } from "./facets.ts";

/** The ids of events: printable ASCII without spaces. */
export const EVENT_ID = { pattern: "^[!-~]+$", minLength: 1, maxLength: 128 } as const;

/** Ids that would be read as routes below `/audit/`. */
export const RESERVED_IDS = [
  ...["export", "stream", "histogram", "facets", "redact"],
  ...["checkpoint", "verifier", "consistency"],
] as const;

const REPORTED_ID = {
  ...EVENT_ID,
  pattern: `^(?!(?:${RESERVED_IDS.join("|")})$)[!-~]+$`,
} as const;

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
  id: "The client's own id, or an id generated at ingest. Generated ids sort by time.",
  organization_id: "The organization of the event.",
  timestamp: "The time of the command. The default is the time of ingest.",
  ingested_at: "The time of ingest.",
  command: "The full text of the command.",
  executor: "The name of the caller.",
  consumer: "The kind of caller.",
  ai: "Whether an AI agent ran the command.",
  provider: "The program that the command uses. The default is the command's first word.",
  capability: "The capability that the command uses, `<provider>/<name>`.",
  resource: "The resource that the command acted on.",
  policy_decision: "The decision of the policy.",
  policy: "The policy version that decided.",
  reason: "The reason of the decision.",
  status: "The outcome; by default the decision: `allowed`, `denied` or `unknown`.",
  message: "A message of the runtime for people.",
  duration_ms: "The duration of the command in milliseconds.",
  runtime_name: "The name of the runtime that reported the event.",
  runtime_version: "The version of that runtime.",
  runtime_context: "The context of the command, such as a shell, a pipeline or a session.",
  trace_id: "An id that the events of one piece of work share.",
  transport: "The transport by which the event reached the service.",
  observed_decision:
    "The decision that would have been made: of a runtime in observe mode, which let the command run.",
  reported_by:
    "The id of the API key or user that reported the event, set by the service. Absent for reports without credentials.",
};

/** The fields that a report describes in another way: by its default, or by what it accepts. */
const REPORT_DESCRIPTIONS: Readonly<Partial<Record<EventFieldName, string>>> = {
  id: "1 to 128 printable ASCII characters. An event with an id can be sent again safely.",
  timestamp: "The time of the command. The default is the time of ingest.",
  consumer: "In any letter case. The default is `ai` if `ai` is true, otherwise `human`.",
  ai: "The default is whether `consumer` is `ai`.",
  provider: "The default is the first word of `command`.",
  policy_decision: "In any letter case. `allow` and `deny` are accepted too.",
  observed_decision:
    "The decision that a runtime in observe mode would have made, in the same words as `policy_decision`.",
  status: "The default is `allowed`, `denied`, or `unknown` without a decision.",
};

/** An event as it is stored and answered: one shape for the log, the wire and the rules. */
export const auditEvent = {
  title: "AuditEvent",
  type: "object",
  description: "A command that a runtime allowed or denied.",
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

/** A runtime's report: canonical names and the aliases that older runtimes send. A body with `events` is a batch. */
const reportedEvent = {
  title: "AuditEventReport",
  type: "object",
  description:
    "An event as a runtime reports it, with at least one field. A canonical name takes precedence over its alias.",
  properties: Object.fromEntries(REPORTED_FIELDS.flatMap(reportedProperties)),
  ruled: { minProperties: 1, propertyNames: { pattern: "^(?!events$)" } },
} as const satisfies Schema;

function reportedProperties({ name, alias, type, limit }: EventField): readonly [string, Schema][] {
  const ruled = type === "id" ? REPORTED_ID : limit !== undefined && { maxLength: limit };
  const shape = ruled ? { ...SHAPES.text, ruled } : SHAPES[type];
  const size = limit === LONG_TEXT ? " Up to 1 MiB." : "";
  const description = (REPORT_DESCRIPTIONS[name] ?? DESCRIPTIONS[name]) + size;
  const field = [name, { ...shape, description }] as [string, Schema];
  return alias === undefined
    ? [field]
    : [field, [alias, { ...shape, description: `Alias of \`${name}\`.` }]];
}

const auditBatch = object({
  title: "AuditBatch",
  description: "A batch of events. All of them are stored, or none.",
  properties: { events: list("The events, in order.", reportedEvent) },
});

/** The body of a report: one event by itself, or a batch. */
export const auditIngest = {
  title: "AuditIngest",
  description: "An event or a batch of events.",
  anyOf: [reportedEvent, auditBatch],
} as const satisfies Schema;

/** The answer to a batch. */
export const auditBatchResult = object({
  title: "AuditBatchResult",
  description: "The result of a batch.",
  properties: {
    accepted: integer("The number of events in the request."),
    events: list("The stored events.", auditEvent),
  },
});

/** A text to try redaction on. */
export const auditRedact = object({
  title: "AuditRedact",
  description: "A text as an event would contain it.",
  properties: {
    text: string("The text.", {
      maxLength: LONG_TEXT,
      examples: ["mysql -u root -phunter2 db"],
    }),
  },
});

/** The result of a redaction. */
export const auditRedaction = object({
  title: "AuditRedaction",
  description: "A text without its secrets.",
  properties: {
    text: string("The text, with `[redacted:<rule>]` in place of each secret."),
    redactions: list(
      "The rules that replaced a secret.",
      object({
        description: "A rule and the number of secrets that it replaced.",
        properties: {
          rule: string("The name of the rule."),
          count: integer("The number of secrets."),
        },
      }),
    ),
  },
});

/** A page of events. */
export const auditPage = object({
  title: "AuditPage",
  description: "A page of the matching events, newest first.",
  optional: ["next_cursor"],
  properties: {
    events: list("The events, newest `timestamp` first.", auditEvent),
    limit: integer("The limit that was applied."),
    offset: integer("The offset that was applied."),
    returned: integer("The number of events on this page."),
    total: integer("The number of matching events on all pages."),
    next_cursor: string("The `cursor` of the next page; absent on the last page."),
  },
});

const facetValue = object({
  title: "AuditFacetValue",
  description: "A value, and the number of events that have it.",
  properties: {
    value: string("The value, as the filter of the field takes it."),
    events: integer("The number of events."),
  },
});

/** The answer of facets. */
export const auditFacets = object({
  title: "AuditFacets",
  description: "The most frequent values of each field among the matching events.",
  properties: {
    counted: integer("The number of events that were counted."),
    complete: boolean("Whether all matching events were counted, or the newest ones only."),
    facets: list(
      "The fields.",
      object({
        title: "AuditFacet",
        description: "The most frequent values of one field.",
        properties: {
          field: word("The filter of the field.", FACETS),
          values: list("The values, those of the most events first.", facetValue),
        },
      }),
    ),
  },
});
export type FacetsAnswer = Infer<typeof auditFacets>;

/** The possible lengths of a histogram's buckets. */
export const intervals = ["1m", "1h", "1d"] as const;
export type Interval = (typeof intervals)[number];

const bucket = object({
  title: "AuditHistogramBucket",
  description: "The numbers of events in one interval.",
  properties: {
    start: dateTime("The start of the interval in UTC."),
    allowed: integer("The number of allowed events."),
    denied: integer("The number of denied events."),
    other: integer("The number of events without a decision."),
  },
});

/** Events over time. */
export const auditHistogram = object({
  title: "AuditHistogram",
  description: "The numbers of events over time, by decision.",
  properties: {
    interval: word("The length of a bucket.", intervals),
    buckets: list("The buckets, oldest first, including those without events.", bucket),
  },
});
export type Histogram = Infer<typeof auditHistogram>;
