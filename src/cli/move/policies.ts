import type { PolicyStore, PolicyVersion } from "../../policies/store.ts";

type Listed = PolicyVersion["policy"];

/**
 * Copies an organization's policy versions by publishing and activating them in their order. Versions that
 * the target already has are skipped.
 */
export async function copyPolicies(from: PolicyStore, to: PolicyStore, id: string): Promise<void> {
  const policies = (await from.versions(id)).map(({ policy }) => policy).toReversed();
  const active = policies.find((policy) => policy.active);
  const known = new Set((await to.versions(id)).map(({ policy }) => policy.version));
  // An active version without a time of activation became active by its publish, after all activations.
  const last = active?.activated_at === undefined ? active : undefined;
  const isLater = (policy: Listed, i: number): boolean =>
    last !== undefined && i >= policies.indexOf(last) && policy.activated_at === undefined;
  const publish = async (policy: Listed, activates: boolean): Promise<void> => {
    const { version, name, description, updated_by, updated_at } = policy;
    if (known.has(version)) return;
    const { yaml = "" } = (await from.get(id, version)) ?? {};
    const draft = { version, isGenerated: false, activates, name, description, yaml };
    await to.publish(id, { ...draft, updated_by, updated_at });
  };
  for (const [i, policy] of policies.entries()) {
    if (!isLater(policy, i)) await publish(policy, false);
  }
  const activated = policies.filter((policy) => policy.activated_at !== undefined);
  for (const policy of activated.sort((a, b) => order(a, b, active))) {
    const there = await to.get(id, policy.version);
    if (there?.activated_at === policy.activated_at && (policy !== active || there?.active))
      continue;
    await activate(to, id, policy);
  }
  for (const policy of policies.filter(isLater)) {
    await publish(policy, policy === last);
  }
}

async function activate(to: PolicyStore, id: string, policy: Listed): Promise<void> {
  const { version, activated_at: at = "", activated_by: by = "" } = policy;
  await to.activate(id, version, at, by);
}

/** By the time of activation; the active version is the last one. */
function order(a: Listed, b: Listed, active: Listed | undefined): number {
  if (a === active || b === active) return a === active ? 1 : -1;
  return (a.activated_at ?? "") < (b.activated_at ?? "") ? -1 : 1;
}
