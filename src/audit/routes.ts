import type { Clock } from "../core/clock.ts";
import { BadInput, TooLarge } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import type { Quotas } from "../core/quota.ts";
import { string } from "../core/schema-parts.ts";
import type { Schema } from "../core/schema.ts";
import { COSTLY_WORK, type TurnLimits, type Turns } from "../core/scheduling/turns.ts";
import { isObject } from "../core/validate.ts";
import type { Work } from "../core/scheduling/work.ts";
import { json, jsonAround, later, type Reply, type Settle } from "../http/reply.ts";
import { route, type CustomBody } from "../http/route.ts";
import { draftBatch, draftOne, type Drafted } from "./drafting.ts";
import { FACETS, type FacetName } from "./facets.ts";
import { FACET_COUNTS, filterOf, filterQuery, SEARCH } from "./filter.ts";
import { bucketsFor, histogramOf } from "./histogram.ts";
import { readPage } from "./page.ts";
import type { EventRedaction } from "./redaction/event-redaction.ts";
import type { Redactor } from "./redaction/redact.ts";
import {
  auditBatchResult,
  auditEvent,
  auditFacets,
  auditHistogram,
  auditIngest,
  auditPage,
  auditRedact,
  auditRedaction,
  intervals,
  type FacetsAnswer,
} from "./schema.ts";
import type { AuditStore, Stored } from "./store.ts";

/** The parts that the routes for reported events use. */
export interface IngestNeeds {
  readonly audit: AuditStore;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly maxBatchEvents: number;
  readonly quotas: Pick<Quotas, "auditBytes">;
  readonly largeBatches: Turns;
  readonly batches: Turns;
  readonly redaction: Pick<EventRedaction, "redactorFor" | "count">;
}

interface Needs extends IngestNeeds {
  readonly redaction: Pick<EventRedaction, "redactorFor" | "trial" | "count">;
  readonly redactionTrials: Turns;
}

/** The unchecked events of a body, and whether they came as a batch. */
interface Report {
  readonly isBatch: boolean;
  readonly events: readonly unknown[];
}

/**
 * Larger batches take turns until they are stored, others while they are drafted, if that is long: drafted side by side,
 * those of thousands of connections would all be in memory until the last one ends. Their number of events counts, not the
 * size of the body: ten bytes of a body can become some hundred bytes of an event.
 */
export const LARGE_BATCH_EVENTS = 1_000;

/**
 * Trials of redaction that run at a time, and that wait, each with its text. A text of 1 Mi
 * characters takes the slices of a second. Beyond ASCII it takes 2 MiB, and V8 lets its heap grow to a multiple of the
 * objects in use. With 32 texts in the line, three clients made the process take 490 MiB.
 */
export const REDACTION_TRIALS: TurnLimits = { ...COSTLY_WORK, waiting: 8 };

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
  ...filterQuery,
  limit: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 100,
    forgiving: true,
    description: "The maximum number of events on the page.",
  },
  offset: {
    type: "integer",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
    forgiving: true,
    description: "The number of matching events to skip, from the newest on.",
  },
  cursor: string(
    "The `next_cursor` of a page with the same filters; not together with `offset`. The pages neither skip nor repeat an event while events arrive.",
  ),
} as const satisfies Readonly<Record<string, Schema & { readonly forgiving?: true }>>;

/** The JSON of an `AuditBatchResult` around events that are already JSON; long events are bytes. */
function batchResult(accepted: number, events: string | Buffer): string | readonly Buffer[] {
  const head = `{"accepted":${accepted},"events":[`;
  if (typeof events === "string") return `${head}${events}]}`;
  return [Buffer.from(head), events, Buffer.from("]}")];
}

/** Answers when the events are stored. Until then it keeps only their number in memory. */
function answering(settle: Settle, isBatch: boolean, accepted: number): Stored {
  return (error, stored = "") => {
    if (error) settle(error);
    else settle(undefined, json(202, isBatch ? batchResult(accepted, stored) : stored));
  };
}

/** The routes that take audit events, list them, count them and look them up. */
export const auditRoutes = [
  route({
    method: "GET",
    path: "/audit",
    ...SEARCH,
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "List audit events, newest first",
    description:
      "An event must match every filter. `next_cursor`, sent as `cursor`, gives the next page, even while events arrive.",
    tags: ["audit"],
    query: listQuery,
    replies: { 200: auditPage },
    refuses: [400, 500],
    async handle({ organization, query, client }, { audit }: Needs) {
      const filter = filterOf(query);
      const { limit, offset, cursor } = query;
      if (cursor !== undefined && offset > 0) {
        throw new BadInput(
          "offset: expected none beside a cursor, which says where the page begins",
        );
      }
      const wanted = { limit, offset, cursor };
      const { rows, next_cursor } = await readPage(audit, organization, filter, wanted, client);
      const { returned, total } = rows;
      const rest = JSON.stringify({ limit, offset, returned, total, next_cursor }).slice(1);
      return jsonAround('{"events":[', rows.json, `],${rest}`);
    },
  }),
  route({
    method: "POST",
    path: "/audit",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.report",
    role: "operator",
    summary: "Report an audit event or a batch",
    description:
      "The response is sent when the events are stored. An event with an `id` is stored once, even if it is sent again.",
    tags: ["audit"],
    body: report,
    report: true,
    holdsBody: true,
    replies: { 202: { anyOf: [auditEvent, auditBatchResult] } },
    refuses: [400, 413, 500],
    handle({ organization, actor, surface, body, client }, needs: Needs) {
      const { audit, now, ids, maxBatchEvents, quotas, largeBatches, batches, redaction } = needs;
      const { isBatch, events } = body;
      const isLarge = events.length > LARGE_BATCH_EVENTS;
      if (events.length > maxBatchEvents) {
        throw new TooLarge(`events: expected at most ${maxBatchEvents} in one batch`);
      }
      const take = (redactor: Redactor | undefined): Promise<Reply> => {
        const { count } = redaction;
        const context = { organization, now: now(), ids, reporter: actor?.id, redactor, count };
        const turns = isLarge ? largeBatches : batches;
        const inTurns = (work: Work<Drafted>) => turns.runInParts(client, work);
        const drafting = isBatch
          ? inTurns(draftBatch(events, context))
          : draftOne(events[0], context, inTurns);
        const store = ({ drafts, named }: Drafted): Promise<Reply> =>
          later((settle) => {
            const done = answering(settle, isBatch, drafts.length);
            audit.append(organization, drafts, done, named, quotas.auditBytes(surface), client);
          });
        if (!(drafting instanceof Promise)) return store(drafting);
        return drafting.then((drafted) =>
          isLarge ? largeBatches.run(client, () => store(drafted)) : store(drafted),
        );
      };
      const redactor = redaction.redactorFor(organization);
      return redactor instanceof Promise ? redactor.then(take) : take(redactor);
    },
  }),
  route({
    method: "POST",
    path: "/audit/redact",
    surfaces: ["public", "v1"],
    access: "user",
    role: "viewer",
    summary: "Show what redaction makes of a text",
    description:
      "By the rules of ingest and those in the settings of the organization, also with `AUDIT_REDACTION=off`. Stores nothing.",
    tags: ["audit"],
    body: auditRedact,
    question: true,
    replies: { 200: auditRedaction },
    refuses: [400, 500, 503],
    async handle({ organization, body, client }, { redaction, redactionTrials }: Needs) {
      const redactor = await redaction.trial(organization);
      return redactionTrials.runInParts(client, redactor.redactInParts(body.text));
    },
  }),
  route({
    method: "GET",
    path: "/audit/histogram",
    ...SEARCH,
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "Count audit events over time, by decision",
    description:
      "Buckets begin at whole minutes, hours or days in UTC, and at most 1,000 are allowed. The default is the last 24 hours.",
    tags: ["audit"],
    query: {
      ...filterQuery,
      interval: string("The length of a bucket: a minute, an hour or a day.", {
        enum: intervals,
        default: "1h",
      }),
    },
    replies: { 200: auditHistogram },
    refuses: [400, 500],
    async handle({ organization, query, client }, { audit, now }: Needs) {
      const { interval } = query;
      const buckets = bucketsFor(interval, filterOf(query), now());
      const { filter, start, end, intervalMs } = buckets;
      const range = [start, end, intervalMs] as const;
      const counts = await audit.histogram(organization, filter, ...range, client);
      return histogramOf(interval, buckets, counts);
    },
  }),
  route({
    method: "GET",
    path: "/audit/facets",
    ...FACET_COUNTS,
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "Count audit events by the values of their fields",
    description:
      "Values of up to 256 characters. Reasons count in any letter case; the filter `reason` also finds longer reasons that contain one.",
    tags: ["audit"],
    query: {
      ...filterQuery,
      limit: { ...listQuery.limit, maximum: 50, default: 10, description: "Values of each field." },
    },
    replies: { 200: auditFacets },
    refuses: [400, 500],
    async handle({ organization, query, client }, { audit }: Needs) {
      const filter = filterOf(query);
      const found = await audit.facets(organization, filter, query.limit, client);
      const values = (field: FacetName): FacetsAnswer["facets"][number]["values"] =>
        (found.values.get(field) ?? []).map(([value, events]) => ({ value, events }));
      return {
        counted: found.counted,
        complete: found.isComplete,
        facets: FACETS.map((field) => ({ field, values: values(field) })),
      };
    },
  }),
];
