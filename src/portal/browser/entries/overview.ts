import "../frame.ts";
import type { AuditEvent, Histogram } from "../../../audit/schema.ts";
import type { DashboardCounts } from "../../../dashboard/schema.ts";
import type { FleetSummary } from "../../../fleet/schema.ts";
import type { Policy } from "../../../policies/schema.ts";
import { overviewPage, RECENT_DENIALS, type OverviewModel } from "../../pages/overview.ts";
import type { PageContext } from "../../pages/parts.ts";
import { read } from "../api.ts";
import { keepFresh } from "../live.ts";

const EVERY_MS = 15_000;

async function load(context: PageContext, signal: AbortSignal): Promise<OverviewModel> {
  const counts = await read<DashboardCounts>("/dashboard", { signal });
  const active = counts.policy_version;
  const [fleet, histogram, denied, policy] = await Promise.all([
    read<FleetSummary>("/fleet/summary", { signal }),
    read<Histogram>("/audit/histogram", { signal }),
    read<{ readonly events: readonly AuditEvent[] }>("/audit", {
      signal,
      query: { decision: "DENIED", limit: RECENT_DENIALS },
    }),
    // Not asked for where there is none: browsers report every 404 as a fault of the page.
    active === "" ? undefined : read<Policy>(`/policies/${encodeURIComponent(active)}`, { signal }),
  ]);
  return { ...context, counts, fleet, histogram, denials: denied.events, policy };
}

keepFresh({ load, render: overviewPage, everyMs: EVERY_MS });
