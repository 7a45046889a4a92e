// @ts-check
/** The audit event of the peers: its schema for Fastify, and what is filled in at ingest. */
import { randomUUID } from "node:crypto";

/** The columns, in the order of the log's fields; `ai` and `duration_ms` are no text. */
export const COLUMNS = /** @type {const} */ ([
  "id",
  "organization_id",
  "timestamp",
  "ingested_at",
  "command",
  "executor",
  "consumer",
  "ai",
  "provider",
  "capability",
  "resource",
  "policy_decision",
  "policy",
  "reason",
  "status",
  "message",
  "duration_ms",
  "runtime_name",
  "runtime_version",
  "runtime_context",
  "trace_id",
  "transport",
]);

const text = { type: "string" };
const fields = {
  ...Object.fromEntries(COLUMNS.map((name) => [name, text])),
  timestamp: { type: "string", format: "date-time" },
  consumer: { type: "string", enum: ["human", "ai", "ci"] },
  ai: { type: "boolean" },
  policy_decision: { type: "string", enum: ["ALLOWED", "DENIED"] },
  duration_ms: { type: "integer", minimum: 0 },
};
const event = { type: "object", properties: fields };

/** Validates a report: an event by itself, or `{ events }`. */
export const reportSchema = {
  type: "object",
  properties: { ...fields, events: { type: "array", items: event } },
};

/** Serialises the answer to a report, which Fastify does faster with a schema than without. */
export const acceptedSchema = {
  type: "object",
  properties: { ...fields, accepted: { type: "integer" }, events: { type: "array", items: event } },
};

/** Serialises a page. */
export const pageSchema = {
  type: "object",
  properties: {
    events: { type: "array", items: event },
    limit: { type: "integer" },
    offset: { type: "integer" },
    returned: { type: "integer" },
    total: { type: "integer" },
  },
};

/** Validates the parameters of a page; Fastify turns them into numbers and fills the defaults. */
export const pageQuerySchema = {
  type: "object",
  properties: {
    q: text,
    decision: { type: "string", enum: ["ALLOWED", "DENIED"] },
    provider: text,
    consumer: { type: "string", enum: ["human", "ai", "ci"] },
    limit: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
    offset: { type: "integer", minimum: 0, default: 0 },
  },
};

/** Validates a heartbeat. */
export const heartbeatSchema = {
  type: "object",
  required: ["name"],
  properties: { name: text, hostname: text, os: text, version: text, policy_version: text },
};

/**
 * Makes the stored event of a report.
 *
 * @param {Record<string, any>} report
 * @param {string} now
 * @returns {Record<string, any>}
 */
export function eventOf(report, now) {
  const consumer = report.consumer ?? (report.ai ? "ai" : "human");
  const decision = report.policy_decision;
  return {
    ...report,
    id: report.id ?? randomUUID(),
    organization_id: "default",
    timestamp: report.timestamp ?? now,
    ingested_at: now,
    consumer,
    ai: report.ai ?? consumer === "ai",
    provider: report.provider ?? report.command?.trimStart().split(/\s/, 1)[0],
    status:
      report.status ??
      (decision === undefined ? "unknown" : decision === "ALLOWED" ? "allowed" : "denied"),
  };
}

/**
 * The event of a row: what was not given is left out.
 *
 * @param {Record<string, any>} row
 */
export function withoutNulls(row) {
  for (const name in row) if (row[name] === null) row[name] = undefined;
  return row;
}
