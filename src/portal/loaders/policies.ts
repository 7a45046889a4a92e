import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import type { FleetStore } from "../../fleet/store.ts";
import { MOST_VERSIONS } from "../../fleet/summary.ts";
import type { PolicyStore } from "../../policies/store.ts";
import type { PageContext } from "../pages/parts.ts";
import type { PoliciesModel } from "../pages/policies.ts";
import type { PolicyEditorModel } from "../pages/policy-editor.ts";

/** What the page of policies is read from. */
export interface PoliciesNeeds {
  readonly policies: Pick<PolicyStore, "activeVersion" | "get" | "versions">;
  readonly fleet: Pick<FleetStore, "policies">;
}

/** Reads the versions of the default organization, and the texts that the address asks for. */
export async function loadPolicies(
  { policies, fleet }: PoliciesNeeds,
  context: PageContext,
  asked: Pick<PoliciesModel, "query" | "hasActivity">,
): Promise<PoliciesModel> {
  const { query } = asked;
  const id = DEFAULT_ORGANIZATION;
  const wanted = query.version ?? (await policies.activeVersion(id));
  const [versions, runtimes, shown, against] = await Promise.all([
    policies.versions(id),
    fleet.policies(id, context.now, MOST_VERSIONS),
    policies.get(id, wanted),
    query.against === undefined ? undefined : policies.get(id, query.against),
  ]);
  return {
    ...context,
    ...asked,
    versions: versions.map(({ policy }) => policy),
    runtimes: new Map(runtimes.map(({ version, present }) => [version, present])),
    shown,
    against,
  };
}

/** Reads what the editor begins with: the active version, and the one that is to be changed. */
export async function loadPolicyEditor(
  { policies }: Pick<PoliciesNeeds, "policies">,
  context: PageContext,
  from: string | undefined,
): Promise<PolicyEditorModel> {
  const id = DEFAULT_ORGANIZATION;
  const active = await policies.get(id, await policies.activeVersion(id));
  const base = from === undefined ? active : await policies.get(id, from);
  return { ...context, active, base };
}
