import type { RuntimeStatus } from "./schema.ts";

/**
 * Whether a runtime runs another policy version than its assigned one. An offline runtime is not expected
 * to have fetched anything, and a runtime that never reported a version is not known to differ.
 *
 * @param assigned the version that the runtime should have; empty if none is active
 */
export function isDrifted(
  {
    status,
    policy_version: version,
  }: { readonly status: RuntimeStatus; readonly policy_version?: string | undefined },
  assigned: string,
): boolean {
  return status !== "offline" && assigned !== "" && Boolean(version) && version !== assigned;
}
