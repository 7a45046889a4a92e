/** Summarises the data of an organization in an engine, so that two engines can be compared. */
import { createHash, type Hash } from "node:crypto";
import { isObject } from "../../core/validate.ts";
import type { Stores } from "../../engine.ts";
import type { Organization } from "../../organizations/schema.ts";
import { entriesOf, fetchesOf, recordsOf, runtimesOf } from "./records.ts";

/** The number of an organization's records of one kind, and a digest of them in their order. */
export interface Part {
  readonly count: number;
  readonly digest: string;
}

/** The parts of an organization by their names. */
export type Summary = Readonly<Record<string, Part>>;

/** Counts and digests records. */
export class Digest {
  readonly #hash: Hash = createHash("sha256");
  #count = 0;

  /** Adds a record: bytes as they are, any other value as JSON with sorted members. */
  add(record: unknown): void {
    this.#hash.update(Buffer.isBuffer(record) ? record : JSON.stringify(record, sorted));
    this.#hash.update("\n");
    this.#count++;
  }

  end(): Part {
    return { count: this.#count, digest: this.#hash.digest("hex") };
  }
}

/** Digests the lines of events. */
export async function digestEvents(
  portions: AsyncIterable<readonly Buffer[]>,
  read: (events: number) => void,
): Promise<Part> {
  const digest = new Digest();
  let events = 0;
  for await (const lines of portions) {
    for (const line of lines) digest.add(line);
    read((events += lines.length));
  }
  return digest.end();
}

/** Summarises all data of an organization except its events. */
export async function summaryOf(stores: Stores, organization: Organization): Promise<Summary> {
  const { id } = organization;
  const { users, keys } = await recordsOf(stores, organization);
  const overrides = [...(await stores.overrides.all(id))];
  const policies = new Digest();
  for (const { policy } of await stores.policies.versions(id)) {
    policies.add(await stores.policies.get(id, policy.version));
  }
  const activity = new Digest();
  for await (const entries of entriesOf(stores, id)) {
    for (const entry of entries) activity.add(entry);
  }
  return {
    organizations: partOf([organization]),
    users: partOf(users),
    keys: partOf(keys),
    settings: partOf(await stores.settings.list(id)),
    "provider overrides": partOf(overrides.sort(([a], [b]) => (a < b ? -1 : 1))),
    "policy versions": policies.end(),
    rollouts: partOf(await stores.rollouts.list(id)),
    "runtimes that fetched": partOf((await fetchesOf(stores, id)).runtimes),
    runtimes: partOf(await runtimesOf(stores, id)),
    "activity entries": activity.end(),
  };
}

function partOf(records: readonly unknown[]): Part {
  const digest = new Digest();
  for (const record of records) digest.add(record);
  return digest.end();
}

/** Sorts the members of a record, since engines keep them in different orders. */
function sorted(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One digest of a whole summary. */
export function digestOf(summary: Summary): string {
  return partOf([summary]).digest;
}
