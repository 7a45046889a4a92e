import type { Infer, Schema } from "../core/schema.ts";

const decisions = ["ALLOWED", "DENIED"] as const;
const consumers = ["human", "ai", "ci"] as const;

export type Decision = (typeof decisions)[number];
export type Consumer = (typeof consumers)[number];
export { consumers, decisions };

/** The ids of events: printable ASCII without spaces. */
export const EVENT_ID = { pattern: "^[!-~]+$", minLength: 1, maxLength: 128 } as const;

/** An event as it is stored and answered: one shape for the log, the wire and the rules. */
export const auditEvent = {
  title: "AuditEvent",
  type: "object",
  description: "One command that a runtime allowed or denied.",
  required: ["id", "organization_id", "timestamp", "ingested_at", "consumer", "ai", "status"],
  properties: {
    id: {
      type: "string",
      description: "The client's own id, or one generated at ingest; generated ids sort by time.",
    },
    organization_id: { type: "string", description: "The organization the event belongs to." },
    timestamp: {
      type: "string",
      format: "date-time",
      description: "When the command ran; the time of ingest where the client gave none.",
    },
    ingested_at: {
      type: "string",
      format: "date-time",
      description: "When the event arrived here.",
    },
    command: { type: "string", description: "The full text of the command." },
    executor: { type: "string", description: "Who ran the command." },
    consumer: { type: "string", enum: consumers, description: "What kind of caller ran it." },
    ai: { type: "boolean", description: "Whether an AI agent ran it." },
    provider: {
      type: "string",
      description: "The program or service that was used; the command's first word where absent.",
    },
    capability: { type: "string", description: "The capability used, `<provider>/<name>`." },
    resource: { type: "string", description: "What the command acted on." },
    policy_decision: { type: "string", enum: decisions, description: "What the policy decided." },
    policy: { type: "string", description: "The policy version that decided." },
    reason: { type: "string", description: "Why the policy decided so." },
    status: {
      type: "string",
      description: "How it ended: `allowed`, `denied` or `unknown` where the client gave nothing.",
    },
    message: { type: "string", description: "Anything the runtime adds for people." },
    duration_ms: { type: "integer", minimum: 0, description: "How long it ran, in milliseconds." },
    runtime_name: { type: "string", description: "The runtime that reported the event." },
    runtime_version: { type: "string", description: "That runtime's version." },
    runtime_context: {
      type: "string",
      description: "Where it ran: a shell, a pipeline, a session.",
    },
    trace_id: { type: "string", description: "Joins the events of one piece of work." },
    transport: { type: "string", description: "How the event reached the service." },
    reported_by: {
      type: "string",
      description:
        "The id of the API key or user that reported the event, set by the service; absent where the " +
        "report came without credentials.",
    },
  },
} as const satisfies Schema;
export type AuditEvent = Infer<typeof auditEvent>;

/** A runtime's report: canonical names and the aliases that older runtimes send. */
const reportedEvent = {
  title: "AuditEventReport",
  type: "object",
  description:
    "An event as a runtime reports it. At least one field is needed; a canonical name wins over its alias, which is not looked at then.",
  properties: {
    id: {
      type: "string",
      maxLength: 128,
      ruled: EVENT_ID,
      description: "1 to 128 printable ASCII characters; makes it safe to send the event again.",
    },
    timestamp: { type: "string", format: "date-time", description: "Default: the time of ingest." },
    command: { type: "string", description: "The full text of the command, up to 1 MiB." },
    executor: { type: "string", description: "Who ran the command." },
    user: { type: "string", description: "Alias of `executor`." },
    consumer: {
      type: "string",
      enum: consumers,
      description: "In any letter case. Default: `ai` where `ai` is true, else `human`.",
    },
    ai: { type: "boolean", description: "Default: whether `consumer` is `ai`." },
    provider: { type: "string", description: "Default: the first word of `command`." },
    tool: { type: "string", description: "Alias of `provider`." },
    capability: { type: "string", description: "The capability used, `<provider>/<name>`." },
    resource: { type: "string", description: "What the command acted on." },
    repository: { type: "string", description: "Alias of `resource`." },
    policy_decision: {
      type: "string",
      enum: decisions,
      description: "In any letter case; `allow` and `deny` are understood too.",
    },
    decision: { type: "string", enum: decisions, description: "Alias of `policy_decision`." },
    policy: { type: "string", description: "The policy version that decided." },
    policyVersion: { type: "string", description: "Alias of `policy`." },
    reason: { type: "string", description: "Why the policy decided so, up to 1 MiB." },
    status: {
      type: "string",
      description: "Default: `allowed`, `denied`, or `unknown` without a decision.",
    },
    message: { type: "string", description: "Anything the runtime adds, up to 1 MiB." },
    duration_ms: { type: "integer", minimum: 0, description: "How long it ran, in milliseconds." },
    durationMs: { type: "integer", minimum: 0, description: "Alias of `duration_ms`." },
    runtime_name: { type: "string", description: "The runtime that reports." },
    runtimeName: { type: "string", description: "Alias of `runtime_name`." },
    runtime_version: { type: "string", description: "That runtime's version." },
    runtimeVersion: { type: "string", description: "Alias of `runtime_version`." },
    runtime_context: { type: "string", description: "Where it ran." },
    trace_id: { type: "string", description: "Joins the events of one piece of work." },
    traceId: { type: "string", description: "Alias of `trace_id`." },
    transport: { type: "string", description: "How the event was sent." },
  },
} as const satisfies Schema;

const auditBatch = {
  title: "AuditBatch",
  type: "object",
  description: "Several events, stored all or none.",
  required: ["events"],
  properties: {
    events: { type: "array", items: reportedEvent, description: "The events, in order." },
  },
} as const satisfies Schema;

/** The body of a report: one event by itself, or a batch. */
export const auditIngest = {
  title: "AuditIngest",
  description: "One event, or a batch of them.",
  anyOf: [reportedEvent, auditBatch],
} as const satisfies Schema;

/** The answer to a batch. */
export const auditBatchResult = {
  title: "AuditBatchResult",
  type: "object",
  description: "What became of a batch.",
  required: ["accepted", "events"],
  properties: {
    accepted: { type: "integer", description: "How many events were sent." },
    events: { type: "array", items: auditEvent, description: "The events as they are stored." },
  },
} as const satisfies Schema;

/** A page of events. */
export const auditPage = {
  title: "AuditPage",
  type: "object",
  description: "One page of the events that match, newest first.",
  required: ["events", "limit", "offset", "returned", "total"],
  properties: {
    events: { type: "array", items: auditEvent, description: "Newest `timestamp` first." },
    limit: { type: "integer", description: "The limit that was used." },
    offset: { type: "integer", description: "The offset that was used." },
    returned: { type: "integer", description: "How many events are in this page." },
    total: { type: "integer", description: "How many events match, before paging." },
    next_cursor: {
      type: "string",
      description: "The `cursor` of the next page; absent where no event is left.",
    },
  },
} as const satisfies Schema;

/** The possible lengths of a histogram's buckets. */
export const intervals = ["1m", "1h", "1d"] as const;
export type Interval = (typeof intervals)[number];

const bucket = {
  title: "AuditHistogramBucket",
  type: "object",
  description: "How many events fell into one interval.",
  required: ["start", "allowed", "denied", "other"],
  properties: {
    start: {
      type: "string",
      format: "date-time",
      description: "Where the interval begins, in UTC.",
    },
    allowed: { type: "integer", description: "Events that were allowed." },
    denied: { type: "integer", description: "Events that were denied." },
    other: { type: "integer", description: "Events without a decision." },
  },
} as const satisfies Schema;

/** Events over time. */
export const auditHistogram = {
  title: "AuditHistogram",
  type: "object",
  description: "Events over time, by decision.",
  required: ["interval", "buckets"],
  properties: {
    interval: { type: "string", enum: intervals, description: "How long each bucket is." },
    buckets: {
      type: "array",
      items: bucket,
      description: "Oldest first, without gaps; those without events are there too.",
    },
  },
} as const satisfies Schema;
export type Histogram = Infer<typeof auditHistogram>;
