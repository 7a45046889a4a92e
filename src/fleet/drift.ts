import type { RuntimeStatus } from "./schema.ts";

/**
 * Whether a runtime runs another policy version than the active one. An offline runtime is not expected
 * to have fetched anything, and a runtime that never reported a version is not known to differ.
 *
 * @param active the active version's name; empty if none is active
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
