import type { Clock } from "../core/clock.ts";
import { BadInput, TooLarge } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import type { Schema } from "../core/schema.ts";
import { isObject } from "../core/validate.ts";
import { json, later } from "../http/reply.ts";
import { route, type CustomBody } from "../http/route.ts";
import { ingestEvent } from "./ingest.ts";
import { auditBatchResult, auditEvent, auditIngest, auditPage, consumers } from "./schema.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

interface Needs {
  readonly audit: AuditStore;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly maxBatchEvents: number;
}

/** The events of a body before anybody looked into them, and whether they came as a batch. */
interface Report {
  readonly isBatch: boolean;
  readonly events: readonly unknown[];
}

/** Tells a batch from a single event: a body that has `events` is a batch. */
const report: CustomBody<Report> = {
  schema: auditIngest,
  read(value) {
    if (!isObject(value)) throw new BadInput("The body: expected a JSON object");
    const events = Object.hasOwn(value, "events") ? (value["events"] ?? undefined) : undefined;
    if (events === undefined) return { isBatch: false, events: [value] };
    if (!Array.isArray(events)) throw new BadInput("events: expected a list of audit events");
    return { isBatch: true, events };
  },
};

const listQuery = {
  q: {
    type: "string",
    description:
      "Text that the command, executor, resource, provider or capability must contain, in any letter case.",
  },
  decision: {
    type: "string",
    enum: ["ALLOWED", "DENIED", "allowed", "denied"],
    forgiving: true,
    description: "Only events with this decision; an unknown one matches nothing.",
  },
  provider: { type: "string", description: "Only events of exactly this provider." },
  consumer: {
    type: "string",
    enum: consumers,
    forgiving: true,
    description: "Only events of this kind of caller; an unknown one matches nothing.",
  },
  limit: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 100,
    forgiving: true,
    description: "The most events in the page.",
  },
  offset: {
    type: "integer",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    forgiving: true,
    description: "How many matching events to skip, counted from the newest.",
  },
} as const satisfies Readonly<Record<string, Schema & { readonly forgiving?: true }>>;

export const auditRoutes = [
  route({
    method: "GET",
    path: "/audit",
    surfaces: ["public", "v1"],
    access: "runtime",
    summary: "List audit events, newest first",
    tags: ["audit"],
    query: listQuery,
    replies: { 200: auditPage },
    refuses: [500],
    async handle({ organization, query }, { audit }: Needs) {
      const filter: AuditFilter = {
        q: query.q,
        decision: query.decision?.toUpperCase(),
        provider: query.provider,
        consumer: query.consumer?.toLowerCase(),
      };
      const { limit, offset } = query;
      const rows = await audit.page(organization, filter, limit, offset);
      const { returned, total } = rows;
      const counts = JSON.stringify({ limit, offset, returned, total }).slice(1);
      return json(
        200,
        Buffer.concat([Buffer.from('{"events":['), rows.json, Buffer.from(`],${counts}`)]),
      );
    },
  }),
  route({
    method: "POST",
    path: "/audit",
    surfaces: ["public", "v1"],
    access: "runtime",
    summary: "Report audit events, one by itself or several as a batch",
    description:
      "Answered when the events are stored. A batch is stored whole or not at all. An event with an " +
      "`id` of its own may be sent again: it is stored once and answered as it was stored.",
    tags: ["audit"],
    body: report,
    report: true,
    replies: { 202: { anyOf: [auditEvent, auditBatchResult] } },
    refuses: [400, 413, 500],
    handle({ organization, body }, { audit, now, ids, maxBatchEvents }: Needs) {
      const { isBatch, events } = body;
      if (events.length > maxBatchEvents) {
        throw new TooLarge(`events: expected at most ${maxBatchEvents} in one batch`);
      }
      const context = { organization, now: now(), ids };
      const drafts = isBatch
        ? events.map((event, i) => ingestEvent(event, `events[${i}]`, context))
        : [ingestEvent(events[0], "", context)];
      return later((settle) => {
        audit.append(organization, drafts, (error, stored = "") => {
          if (error) settle(error);
          else if (!isBatch) settle(undefined, json(202, stored));
          else settle(undefined, json(202, `{"accepted":${drafts.length},"events":[${stored}]}`));
        });
      });
    },
  }),
];
