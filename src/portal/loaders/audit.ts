import { filterOf } from "../../audit/filter.ts";
import { bucketsFor, histogramOf } from "../../audit/histogram.ts";
import { readPage } from "../../audit/page.ts";
import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditStore } from "../../audit/store.ts";
import type { Catalog } from "../../catalog/view.ts";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { NotFound, Refusal } from "../../core/errors.ts";
import { allProviderNames } from "../../providers/rows.ts";
import type { AuditSource } from "../pages/audit-source.ts";
import { eventsOf } from "./events.ts";

/** What the audit page is read from. */
export interface AuditPageNeeds {
  readonly audit: Pick<AuditStore, "activity" | "get" | "histogram" | "page" | "pageAfter">;
  readonly catalog: Catalog;
}

/** Reads the events of the default organization as the API would answer them. */
export function auditSource({ audit, catalog }: AuditPageNeeds, now: Clock): AuditSource {
  const id = DEFAULT_ORGANIZATION;
  return {
    async page(query, limit, cursor) {
      const filter = filterOf(query);
      const wanted = { limit, offset: 0, cursor };
      const { rows, next_cursor } = await readPage(audit, id, filter, wanted);
      return { events: await eventsOf(rows), total: rows.total, next_cursor };
    },
    async histogram(query, interval) {
      const buckets = bucketsFor(interval, filterOf(query), now());
      const { filter, start, end, intervalMs } = buckets;
      const counts = await audit.histogram(id, filter, start, end, intervalMs);
      return histogramOf(interval, buckets, counts);
    },
    async event(wanted) {
      const found = await audit.get(id, wanted);
      if (!found) throw new NotFound(`There is no audit event "${wanted}"`);
      return JSON.parse(found.toString("utf8")) as AuditEvent;
    },
    async providers() {
      return allProviderNames(catalog.current(), await audit.activity(id, now()));
    },
    problemOf: (error) => (error instanceof Refusal ? error.message : undefined),
  };
}
