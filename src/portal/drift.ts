import type { RuntimeInstance } from "../fleet/schema.ts";

/**
 * Whether a runtime runs another policy version than the active one. One that is offline is not
 * expected to have fetched anything, and one that never said what it runs is not known to differ.
 *
 * @param active the active version's name; empty when there is none
 */
export function isDrifted(
  { status, policy_version: version }: Pick<RuntimeInstance, "status" | "policy_version">,
  active: string,
): boolean {
  return status !== "offline" && active !== "" && Boolean(version) && version !== active;
}

/** How many runtimes that are not offline report each policy version. */
export function runtimesByPolicy(
  runtimes: readonly Pick<RuntimeInstance, "status" | "policy_version">[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status, policy_version: version } of runtimes) {
    if (status !== "offline" && version) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return counts;
}
