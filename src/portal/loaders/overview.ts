import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditStore } from "../../audit/store.ts";
import { bucketsFor, histogramOf } from "../../audit/histogram.ts";
import type { Catalog } from "../../catalog/view.ts";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { dashboardCounts } from "../../dashboard/counts.ts";
import type { FleetStore } from "../../fleet/store.ts";
import { readSummary } from "../../fleet/summary.ts";
import type { PolicyStore } from "../../policies/store.ts";
import { RECENT_DENIALS, type OverviewModel } from "../pages/overview.ts";
import type { PageContext } from "../pages/parts.ts";
import { eventsOf, MOST_IN_LIST } from "./events.ts";

/** What the overview is read from. */
export interface OverviewNeeds {
  readonly audit: Pick<AuditStore, "activity" | "histogram" | "page">;
  readonly fleet: Pick<FleetStore, "counts" | "policies">;
  readonly policies: Pick<PolicyStore, "active">;
  readonly catalog: Catalog;
}

/** Reads what the overview shows of the default organization. */
export async function loadOverview(
  { audit, fleet, policies, catalog }: OverviewNeeds,
  context: PageContext,
): Promise<OverviewModel> {
  const { now } = context;
  const id = DEFAULT_ORGANIZATION;
  const buckets = bucketsFor("1h", {}, now);
  const { filter, start, end, intervalMs } = buckets;
  const active = await policies.active(id);
  const version = active?.version ?? "";
  const [activity, hours, denied, summary] = await Promise.all([
    audit.activity(id, now),
    audit.histogram(id, filter, start, end, intervalMs),
    readDenials(audit, id),
    readSummary({ fleet, policies: { activeVersion: () => version } }, id, now),
  ]);
  return {
    ...context,
    fleet: summary,
    counts: dashboardCounts(activity, catalog.current().envelope.counts, summary, version),
    histogram: histogramOf("1h", buckets, hours),
    denials: denied,
    policy: active,
  };
}

async function readDenials(
  audit: OverviewNeeds["audit"],
  organization: string,
): Promise<readonly AuditEvent[]> {
  return eventsOf(
    await audit.page(
      organization,
      { decision: "DENIED" },
      RECENT_DENIALS,
      0,
      undefined,
      MOST_IN_LIST,
    ),
  );
}
