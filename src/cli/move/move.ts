/**
 * Moves all data of one engine into another one. Logs are copied in their order, in portions that are stored
 * whole or not at all. So the number of records in the target is the point at which an interrupted move
 * continues. All other data is replaced, or added if it is missing.
 */
import { createHash } from "node:crypto";
import type { Engine, EngineMove, Stores } from "../../engine.ts";
import { storeReport } from "../../fleet/store.ts";
import { copyPolicies } from "./policies.ts";
import { countEntries, entriesOf, fetchesOf, isEmpty, recordsOf, runtimesOf } from "./records.ts";
import { Digest, digestEvents, summaryOf, type Part, type Summary } from "./summary.ts";

/** Receives a description of the current step after each portion. */
export type Progress = (text: string) => void;

/** The result for one organization. */
export interface Moved {
  readonly id: string;
  readonly summary: Summary;
  /** The parts in which the target differs, as sentences; empty if the move succeeded. */
  readonly differences: readonly string[];
}

/** The number of runtimes that are written at a time. */
const PORTION_RUNTIMES = 500;

/**
 * Moves the data of an engine, or continues an interrupted move. The target is complete and usable only if
 * the result has no differences.
 *
 * @param openTarget opens the target for a move. It is called twice, so that the comparison reads stored data
 * @throws Error if the target contains other data
 */
export async function move(
  source: Engine,
  openTarget: () => Promise<Engine>,
  progress: Progress,
): Promise<readonly Moved[]> {
  const events = new Map<string, Part>();
  await using(openTarget, async (target, taking) => {
    await prepare(source, target, taking);
    for (const organization of await source.stores.organizations.list()) {
      const { id } = organization;
      progress(`${id}: users, keys, settings, policies`);
      await taking.organization(await recordsOf(source.stores, organization));
      await copySmall(source.stores, target.stores, id);
      await copyRuntimes(source.stores, target.stores, id);
      await copyActivity(source.stores, target.stores, taking, id, progress);
      events.set(id, await copyEvents(source, target, id, progress));
    }
    const catalog = await source.catalogCopy.read();
    if (catalog !== undefined) await target.catalogCopy.write(catalog);
    await taking.secret(source.secret);
    const logKey = await movable(source).logKey();
    if (logKey !== undefined) await taking.takeLogKey(logKey);
    progress("building indexes");
    await taking.build();
  });
  return using(openTarget, async (target, taking) => {
    const moved: Moved[] = [];
    for (const { id } of await source.stores.organizations.list()) {
      moved.push(await compare(source, target, id, events.get(id), progress));
    }
    if (moved.every(({ differences }) => differences.length === 0)) await taking.finish();
    return moved;
  });
}

async function using<T>(
  open: () => Promise<Engine>,
  work: (engine: Engine, taking: EngineMove) => Promise<T>,
): Promise<T> {
  const engine = await open();
  try {
    return await work(engine, movable(engine));
  } finally {
    await engine.close();
  }
}

function movable({ move }: Engine): EngineMove {
  if (move === undefined) throw new Error("This storage cannot be moved");
  return move;
}

/** Marks an empty target, or checks that the target is this move's own unfinished one. */
async function prepare(source: Engine, target: Engine, taking: EngineMove): Promise<void> {
  if (await isEmpty(source)) throw new Error("--from: has no data to move");
  // The secret is random and permanent, so it identifies the source even if the source was moved.
  const own = createHash("sha256").update(`move ${source.secret}`).digest("hex").slice(0, 32);
  if (taking.unfinished !== undefined) {
    if (taking.unfinished === own) return;
    throw new Error(
      "--to: holds an unfinished move from another source: give an empty target, or that source",
    );
  }
  if (!(await isEmpty(target))) {
    // A move that was killed between its completion and its exit is run again.
    const fault =
      target.secret === source.secret
        ? 'holds data of this source, as after a complete move, which "signalbox verify" checks'
        : "is not empty";
    throw new Error(`--to: ${fault}: give a new directory or an empty database`);
  }
  await taking.begin(own);
}

async function copySmall(from: Stores, to: Stores, id: string): Promise<void> {
  const settings = await from.settings.list(id);
  if (settings.length > 0) await to.settings.replace(id, settings);
  for (const [provider, status] of await from.overrides.all(id)) {
    await to.overrides.set(id, provider, status);
  }
  await copyPolicies(from.policies, to.policies, id);
  const rollouts = await from.rollouts.list(id);
  if (rollouts.length === 0) return;
  await to.rollouts.restore(id, rollouts.toReversed());
  const { rollout, runtimes } = await fetchesOf(from, id);
  if (runtimes.length > 0) await to.rollouts.addFetched(id, rollout, runtimes);
}

async function copyRuntimes(from: Stores, to: Stores, id: string): Promise<void> {
  const runtimes = await runtimesOf(from, id);
  const { total } = await to.fleet.counts(id, 0, { active: "" });
  for (let first = total; first < runtimes.length; first += PORTION_RUNTIMES) {
    const portion = runtimes.slice(first, first + PORTION_RUNTIMES);
    const reports = portion.map(({ last_seen, ...heartbeat }) =>
      storeReport(to.fleet, id, heartbeat, last_seen),
    );
    await Promise.all(reports);
  }
}

async function copyActivity(
  from: Stores,
  to: Stores,
  taking: EngineMove,
  id: string,
  progress: Progress,
): Promise<void> {
  let stored = await countEntries(to, id);
  const total = await countEntries(from, id);
  for await (const entries of entriesOf(from, id, stored)) {
    await taking.activity(id, entries);
    progress(`${id}: ${(stored += entries.length)} of ${total} activity entries`);
  }
}

/** Copies the events after those that the target has, and digests all of them. */
async function copyEvents(from: Engine, to: Engine, id: string, progress: Progress): Promise<Part> {
  const { events: total } = await from.stores.audit.usage(id);
  const { events: stored } = await to.stores.audit.usage(id);
  const taking = movable(to);
  const digest = new Digest();
  let read = 0;
  let writing: Promise<unknown> = Promise.resolve();
  for await (const lines of movable(from).lines(id)) {
    for (const line of lines) digest.add(line);
    const left = lines.slice(Math.max(0, stored - read));
    read += lines.length;
    const before = writing;
    if (left.length > 0) writing = taking.events(id, left);
    writing.catch(() => undefined); // prevents an unhandled rejection: it is awaited one portion later
    await before;
    progress(`${id}: ${read} of ${total} events`);
  }
  await writing;
  return digest.end();
}

async function compare(
  from: Engine,
  to: Engine,
  id: string,
  copied: Part | undefined,
  progress: Progress,
): Promise<Moved> {
  const organization = await from.stores.organizations.get(id);
  const other = await to.stores.organizations.get(id);
  if (organization === undefined || other === undefined || copied === undefined) {
    return { id, summary: {}, differences: ["the organization is missing"] };
  }
  progress(`${id}: comparing`);
  const { events: present } = await from.stores.audit.usage(id);
  const summary: Summary = { ...(await summaryOf(from.stores, organization)), events: copied };
  const events = await digestEvents(movable(to).lines(id), (read) =>
    progress(`${id}: compared ${read} of ${copied.count} events`),
  );
  const found: Summary = { ...(await summaryOf(to.stores, other)), events };
  const differences = Object.entries(summary).flatMap(([name, { count, digest }]) => {
    const part = found[name];
    if (part?.count !== count)
      return [`${name}: ${count} in the source, ${part?.count} in the target`];
    return part.digest === digest ? [] : [`${name}: the ${count} in the target are not the same`];
  });
  if (present !== copied.count) {
    differences.push(
      `events: the source had ${copied.count} and has ${present} now, stop its servers`,
    );
  }
  return { id, summary, differences };
}
