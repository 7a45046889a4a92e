import type { Policy, PolicySummary } from "../../policies/schema.ts";
import { read } from "./api.ts";

/** The versions without their texts, which may be long and many. */
export interface PolicyVersions {
  /** The active version's name; empty while there is none. */
  readonly active: string;
  /** Newest first. */
  readonly policies: readonly PolicySummary[];
}

/** Reads the versions. */
export function readVersions(signal?: AbortSignal): Promise<PolicyVersions> {
  return read("/policies", { query: { texts: "false" }, ...(signal && { signal }) });
}

/**
 * Reads a version with its text. One that is not among the versions is not asked for, since browsers
 * report every 404 as a fault of the page.
 */
export async function readVersion(
  { policies }: PolicyVersions,
  version: string | undefined,
  signal?: AbortSignal,
): Promise<Policy | undefined> {
  if (version === undefined || !policies.some((policy) => policy.version === version)) {
    return undefined;
  }
  return read(`/policies/${encodeURIComponent(version)}`, { ...(signal && { signal }) });
}
