import { NotFound } from "../core/errors.ts";
import type { Policy } from "./schema.ts";
import type { PolicyStore } from "./store.ts";

/**
 * Reads a stored version; without a name, the active one.
 *
 * @throws NotFound if it does not exist, or no version is active
 */
export async function storedPolicy(
  policies: Pick<PolicyStore, "get" | "active">,
  organization: string,
  version: string | undefined,
): Promise<Policy> {
  const policy = await (version === undefined
    ? policies.active(organization)
    : policies.get(organization, version));
  if (!policy) throw version === undefined ? noActivePolicy() : noSuchVersion(version);
  return policy;
}

/** The refusal while no version is active. Guards know it by its words. */
export function noActivePolicy(): NotFound {
  return new NotFound("No policy is active");
}

/** The refusal of a version that is not stored. */
export function noSuchVersion(version: string): NotFound {
  return new NotFound(`There is no policy version "${version}"`);
}
