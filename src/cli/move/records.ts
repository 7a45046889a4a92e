/** Reads the records of an engine, in the order in which another engine must store them. */
import type { ActivityEntry } from "../../activity/schema.ts";
import type { Engine, OrganizationRecords, Stores } from "../../engine.ts";
import type { StoredRuntime } from "../../fleet/store.ts";
import type { Organization } from "../../organizations/schema.ts";

/** The most entries that are in memory at a time. */
const PORTION_ENTRIES = 5_000;

/** The records of an organization that fit into memory. */
export async function recordsOf(
  { users, keys }: Stores,
  organization: Organization,
): Promise<OrganizationRecords> {
  const newestFirst = await keys.list(organization.id);
  return {
    organization,
    users: await users.list(organization.id),
    keys: newestFirst.toReversed(),
  };
}

/** The runtimes, least recently seen first. */
export async function runtimesOf(
  { fleet }: Stores,
  organization: string,
): Promise<readonly StoredRuntime[]> {
  const runtimes: StoredRuntime[] = [];
  for await (const slice of await fleet.list(organization, { now: 0, active: "" })) {
    runtimes.push(...slice);
  }
  return runtimes.reverse();
}

/** The names of the runtimes that have fetched the version of the newest rollout, sorted; none unless it is open. */
export async function fetchesOf(
  { rollouts }: Pick<Stores, "rollouts">,
  organization: string,
): Promise<{ readonly rollout: string; readonly runtimes: readonly string[] }> {
  const [newest] = await rollouts.list(organization);
  if (newest === undefined) return { rollout: "", runtimes: [] };
  const runtimes = [...(await rollouts.fetched(organization, newest.id))].sort();
  return { rollout: newest.id, runtimes };
}

/** The entries of the activity log in portions, oldest first, without the first ones that the target has. */
export async function* entriesOf(
  { activity }: Stores,
  organization: string,
  skipped = 0,
): AsyncGenerator<readonly ActivityEntry[]> {
  let left = (await countEntries({ activity }, organization)) - skipped;
  while (left > 0) {
    const limit = Math.min(left, PORTION_ENTRIES);
    left -= limit;
    const { json } = await activity.page(organization, {}, limit, left);
    const parts: Buffer[] = [];
    if (Buffer.isBuffer(json)) parts.push(json);
    else for await (const piece of json) parts.push(piece);
    const newestFirst = JSON.parse(`[${Buffer.concat(parts).toString("utf8")}]`) as ActivityEntry[];
    yield newestFirst.reverse();
  }
}

/** The number of entries in the activity log. */
export async function countEntries(
  { activity }: Pick<Stores, "activity">,
  organization: string,
): Promise<number> {
  return (await activity.page(organization, {}, 0, 0)).total;
}

/** Whether an engine has no data other than the default organization, which every engine creates. */
export async function isEmpty({ stores }: Pick<Engine, "stores">): Promise<boolean> {
  const organizations = await stores.organizations.list();
  const [only] = organizations;
  if (organizations.length > 1 || only === undefined) return false;
  const { id } = only;
  const counts = [
    (await stores.users.list(id)).length,
    (await stores.keys.list(id)).length,
    (await stores.settings.list(id)).length,
    (await stores.overrides.all(id)).size,
    (await stores.policies.versions(id)).length,
    (await stores.fleet.counts(id, 0, { active: "" })).total,
    (await stores.audit.usage(id)).events,
    await countEntries(stores, id),
  ];
  return counts.every((count) => count === 0);
}
