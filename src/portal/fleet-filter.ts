import type { RuntimeInstance } from "../fleet/schema.ts";
import { isDrifted } from "./drift.ts";

/** Which runtimes are shown; an absent filter shows all. */
export interface FleetFilter {
  /** A part of the name, host, system, version or policy version, in any letter case. */
  readonly q?: string | undefined;
  readonly status?: string | undefined;
  readonly policy?: string | undefined;
  /** `true` shows those that run another policy version than the active one. */
  readonly drifted?: string | undefined;
}

/** The runtimes that a filter shows, in the order given. */
export function filteredRuntimes(
  runtimes: readonly RuntimeInstance[],
  { q, status, policy, drifted }: FleetFilter,
  active: string,
): readonly RuntimeInstance[] {
  const words = q?.toLowerCase();
  return runtimes.filter(
    (runtime) =>
      (!status || runtime.status === status) &&
      (!policy || runtime.policy_version === policy) &&
      (drifted !== "true" || isDrifted(runtime, active)) &&
      (!words || textsOf(runtime).some((text) => text?.toLowerCase().includes(words))),
  );
}

function textsOf({ name, hostname, os, version, policy_version: policy }: RuntimeInstance) {
  return [name, hostname, os, version, policy];
}

/** A view as an address writes it; empty for all runtimes. */
export function fleetSearch(filter: FleetFilter, limit?: number): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value) parts.set(name, String(value));
  if (limit !== undefined) parts.set("limit", String(limit));
  return parts.size === 0 ? "" : `?${parts}`;
}
