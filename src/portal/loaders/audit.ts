import { filterOf } from "../../audit/filter.ts";
import { bucketsFor } from "../../audit/histogram.ts";
import { readPage } from "../../audit/page.ts";
import type { AuditHistogram, AuditStore } from "../../audit/store.ts";
import type { Catalog } from "../../catalog/view.ts";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { NotFound, Refusal } from "../../core/errors.ts";
import { allProviderNames, MOST_NAMED } from "../../providers/rows.ts";
import type { AuditSource } from "../pages/audit-source.ts";
import { totalOf, type Counted } from "../pages/time-chart.ts";
import { eventOf, eventsOf, MOST_IN_LIST } from "./events.ts";

/** What the audit page is read from. */
export interface AuditPageNeeds {
  readonly audit: Pick<AuditStore, "get" | "histogram" | "page" | "providerNames">;
  readonly catalog: Catalog;
}

/** Reads the events of the default organization as the API would answer them; searches end when `gone` fires. */
export function auditSource(
  { audit, catalog }: AuditPageNeeds,
  now: Clock,
  gone: AbortSignal,
): AuditSource {
  const id = DEFAULT_ORGANIZATION;
  return {
    async page(query, limit, cursor) {
      const filter = filterOf(query);
      const wanted = { limit, offset: 0, cursor, characters: MOST_IN_LIST };
      const { rows, next_cursor } = await readPage(audit, id, filter, wanted, gone);
      return { events: await eventsOf(rows), total: rows.total, next_cursor };
    },
    async histogram(query, interval) {
      const { filter, start, end, intervalMs } = bucketsFor(interval, filterOf(query), now());
      const counts = await audit.histogram(id, filter, start, end, intervalMs, gone);
      return filled(counts, start, intervalMs);
    },
    async event(wanted) {
      const found = await audit.get(id, wanted);
      if (!found) throw new NotFound(`There is no audit event "${wanted}"`);
      return eventOf(found);
    },
    async providers() {
      return allProviderNames(catalog.current(), await audit.providerNames(id, MOST_NAMED));
    },
    problemOf(error) {
      // Who left is told nothing.
      return error instanceof Refusal && !gone.aborted ? error.message : undefined;
    },
  };
}

/** The buckets in which something was counted: most of a long time are empty. */
function filled(
  { allowed, denied, other }: AuditHistogram,
  start: number,
  intervalMs: number,
): readonly Counted[] {
  const found: Counted[] = [];
  for (let i = 0; i < allowed.length; i++) {
    const counts = { allowed: allowed[i] ?? 0, denied: denied[i] ?? 0, other: other[i] ?? 0 };
    if (totalOf(counts) > 0) found.push({ start: start + i * intervalMs, ...counts });
  }
  return found;
}
