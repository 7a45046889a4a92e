import type { TestContext } from "node:test";
import { auditExportRoutes } from "../../src/audit/export-routes.ts";
import { eventRoutes } from "../../src/audit/event-routes.ts";
import { auditRoutes, REDACTION_TRIALS } from "../../src/audit/routes.ts";
import { EventRedaction } from "../../src/audit/redaction/event-redaction.ts";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { auditStreamRoutes } from "../../src/audit/stream-routes.ts";
import { AuditStreams, type StreamLimits } from "../../src/audit/stream.ts";
import { ExportTickets } from "../../src/audit/tickets.ts";
import { createIds } from "../../src/core/ids.ts";
import type { ListenerParts } from "../../src/http/listener-parts.ts";
import type { NeedsOf, Route } from "../../src/http/route.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import { BATCHES, CSV_PIECES, LARGE_BATCHES } from "../../src/shared-limits.ts";
import { serve, type Served } from "../http/serve.ts";
import { MemoryAudit } from "../support/memory-audit.ts";
import { append, auditEventOf, NOON } from "./store-suite.ts";

const rows = [...auditRoutes, ...eventRoutes, ...auditExportRoutes, ...auditStreamRoutes];

/** The routes of the audit over a store in memory. */
export interface ServedAudit extends Served {
  readonly store: MemoryAudit;
  readonly streams: AuditStreams;
  /** The turns of batches that are drafted. */
  readonly batches: Turns;
  /** Moves the clock of tickets forward. */
  advance(ms: number): void;
  /** Stores an event of the organization of all callers here. */
  add(fields?: Partial<AuditEvent>): Promise<AuditEvent>;
}

/** Serves the audit's routes until the test ends; the clock stands still at noon. */
export async function serveAudit(
  t: TestContext,
  limits: Partial<StreamLimits> = {},
  store = new MemoryAudit(),
  parts: Partial<ListenerParts<unknown>> = {},
  csvTurns = new Turns(CSV_PIECES),
): Promise<ServedAudit> {
  let time = NOON;
  const now = () => time;
  const streams = new AuditStreams(limits);
  const batches = new Turns(BATCHES);
  const services: NeedsOf<typeof auditRoutes> &
    NeedsOf<typeof auditExportRoutes> &
    NeedsOf<typeof auditStreamRoutes> = {
    audit: store,
    auditStreams: streams,
    exportTickets: new ExportTickets(now),
    csvTurns,
    longRowTurns: new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: Infinity }),
    largeBatches: new Turns(LARGE_BATCHES),
    batches,
    redactionTrials: new Turns(REDACTION_TRIALS),
    redaction: new EventRedaction(true, () => [], now),
    now,
    ids: createIds(now),
    maxBatchEvents: 2_000,
    quotas: { auditBytes: () => ({ refusal: () => undefined }) },
  };
  t.after(() => streams.close()); // before the server closes, which would wait for them
  const served = await serve(t, rows as readonly Route<never>[] as readonly Route<unknown>[], {
    ...parts,
    services,
  });
  return {
    ...served,
    store,
    streams,
    batches,
    advance: (ms) => void (time += ms),
    async add(fields) {
      const event = auditEventOf({ organization_id: "default", ...fields });
      await append(store, [event], "default");
      return event;
    },
  };
}
