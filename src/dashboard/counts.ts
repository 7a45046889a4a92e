import { isListed } from "../audit/facets.ts";
import type { AuditActivity } from "../audit/store.ts";
import type { CatalogEnvelope } from "../catalog/view.ts";
import type { FleetCounts } from "../fleet/store.ts";
import type { DashboardCounts } from "./schema.ts";

/** Combines the counts of an organization. */
export function dashboardCounts(
  activity: AuditActivity,
  catalog: CatalogEnvelope["counts"],
  fleet: FleetCounts,
  policyVersion: string,
): DashboardCounts {
  return {
    commands_today: activity.commands,
    allowed_today: activity.allowed,
    denied_today: activity.denied,
    would_be_denied_today: activity.wouldBeDenied,
    ai_operations: activity.ai,
    ai_commands_today: activity.ai,
    // Names come from runtimes: `fromEntries` makes even `__proto__` an ordinary property.
    by_provider: Object.fromEntries(activity.byProvider.filter(([name]) => isListed(name))),
    capabilities: catalog.capabilities,
    providers: catalog.providers,
    policy_version: policyVersion,
    runtimes_online: fleet.online,
    runtimes_total: fleet.total,
    runtimes_drifted: fleet.drifted,
  };
}
