import type { Policy } from "../../policies/schema.ts";
import type { PolicyStore } from "../../policies/store.ts";

/**
 * Copies an organization's policy versions by publishing and activating them in their order; those that are
 * there already are left out.
 */
export async function copyPolicies(from: PolicyStore, to: PolicyStore, id: string): Promise<void> {
  const newestFirst = await from.list(id);
  const [active] = newestFirst.filter((policy) => policy.active);
  if (active === undefined) return;
  const known = new Set((await to.versions(id)).map(({ policy }) => policy.version));
  // An active version that was never activated again is the one that was published last.
  const last = active.activated_at === undefined ? active : undefined;
  for (const policy of newestFirst.toReversed()) {
    if (policy !== last) await publish(to, id, policy, known);
  }
  const again = newestFirst.filter((policy) => policy.activated_at !== undefined);
  for (const policy of again.sort((a, b) => order(a, b, active))) {
    const there = await to.get(id, policy.version);
    if (there?.activated_at === policy.activated_at && (policy !== active || there?.active))
      continue;
    // What is active cannot be activated, so another version is first, as it was then.
    const other = again.find((one) => one !== policy);
    if (there?.active && other) await activate(to, id, other);
    await activate(to, id, policy);
  }
  if (last !== undefined) await publish(to, id, last, known);
}

async function publish(
  to: PolicyStore,
  id: string,
  policy: Policy,
  known: ReadonlySet<string>,
): Promise<void> {
  const { version, name, description, yaml, updated_by, updated_at } = policy;
  if (known.has(version)) return;
  const draft = { version, isGenerated: false, name, description, yaml, updated_by, updated_at };
  await to.publish(id, draft);
}

async function activate(to: PolicyStore, id: string, policy: Policy): Promise<void> {
  const { version, activated_at: at = "", activated_by: by = "" } = policy;
  await to.activate(id, version, at, by);
}

/** By the time of activation; the active version is the last one. */
function order(a: Policy, b: Policy, active: Policy): number {
  if (a === active || b === active) return a === active ? 1 : -1;
  return (a.activated_at ?? "") < (b.activated_at ?? "") ? -1 : 1;
}
