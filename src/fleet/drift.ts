import type { RuntimeStatus } from "./schema.ts";

/**
 * Whether a runtime runs another policy version than the active one. One that is offline is not
 * expected to have fetched anything, and one that never said what it runs is not known to differ.
 *
 * @param active the active version's name; empty when there is none
 */
export function isDrifted(
  {
    status,
    policy_version: version,
  }: { readonly status: RuntimeStatus; readonly policy_version?: string | undefined },
  active: string,
): boolean {
  return status !== "offline" && active !== "" && Boolean(version) && version !== active;
}
