import type { FleetFilter } from "../fleet/filter.ts";
import type { RuntimeStatus } from "../fleet/schema.ts";

/** Every status, the best one first. */
export const STATUSES: readonly RuntimeStatus[] = ["online", "idle", "offline"];

/** What the page's address says of the runtimes that are shown; what is absent leaves none out. */
export interface FleetQuery {
  /** A part of the name, host, system, version or policy version, in any letter case. */
  readonly q?: string | undefined;
  readonly status?: string | undefined;
  readonly policy?: string | undefined;
  /** `true` shows those that run another policy version than the active one. */
  readonly drifted?: string | undefined;
}

/** The filter that an address asks for; an unknown value is ignored. */
export function filterOf({ q, status, policy, drifted }: FleetQuery): FleetFilter {
  return {
    q,
    status: STATUSES.find((one) => one === status),
    policy_version: policy,
    drifted: drifted === "true" ? "true" : undefined,
  };
}

/** A view as an address writes it; empty for all runtimes. */
export function fleetSearch(query: FleetQuery, limit?: number): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) parts.set(name, String(value));
  if (limit !== undefined) parts.set("limit", String(limit));
  return parts.size === 0 ? "" : `?${parts}`;
}
