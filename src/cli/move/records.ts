/** Reads what an engine keeps, in the order in which another one takes it. */
import type { ActivityEntry } from "../../activity/schema.ts";
import { streamPosition } from "../../audit/positions.ts";
import type { Engine, OrganizationRecords, Stores } from "../../engine.ts";
import type { StoredRuntime } from "../../fleet/store.ts";
import type { Organization } from "../../organizations/schema.ts";

/** The most records, and bytes of events, that are in memory at a time. */
const PORTION_ENTRIES = 5_000;
const PORTION_EVENTS = 2_000;
const PORTION_BYTES = 2 << 20;

/** An organization's records that are few. */
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

/** The runtimes, those that were seen last at the end. */
export async function runtimesOf(
  { fleet }: Stores,
  organization: string,
): Promise<readonly StoredRuntime[]> {
  const runtimes: StoredRuntime[] = [];
  for await (const slice of fleet.list(organization, { now: 0, active: "" })) {
    runtimes.push(...slice);
  }
  return runtimes.reverse();
}

/** The entries of the activity log after a number of them, oldest first, in portions. */
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

/** The lines of all events in the order of ingest, in portions. */
export async function* linesOf(
  { audit }: Pick<Stores, "audit">,
  organization: string,
): AsyncGenerator<readonly Buffer[]> {
  let { events: left } = await audit.usage(organization);
  if (left === 0) return;
  const { signal } = new AbortController();
  const tail = await audit.tail(organization, {}, streamPosition(0));
  let portion: Buffer[] = [];
  let bytes = 0;
  for await (const { json } of tail.arrivals(signal)) {
    portion.push(json);
    bytes += json.length;
    if (--left > 0 && portion.length < PORTION_EVENTS && bytes < PORTION_BYTES) continue;
    yield portion;
    [portion, bytes] = [[], 0];
    if (left === 0) return; // a tail waits for more
  }
}

/** Whether an engine holds nothing but the default organization, which it makes by itself. */
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
    (await stores.fleet.counts(id, 0, "")).total,
    (await stores.audit.usage(id)).events,
    await countEntries(stores, id),
  ];
  return counts.every((count) => count === 0);
}
