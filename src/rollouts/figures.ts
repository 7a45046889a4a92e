import { firstSelecting } from "../core/assigned-version.ts";
import { DAY_MS } from "../core/clock.ts";
import { Yielder } from "../core/scheduling/yielder.ts";
import type { AuditStore } from "../audit/store.ts";
import { ONLINE_MS } from "../fleet/status.ts";
import type { FleetStore, StoredRuntime } from "../fleet/store.ts";
import type { Decided, Rollout, StageFigures } from "./schema.ts";
import { isOpen, selectorOf } from "./state.ts";
import type { RolloutStore } from "./store.ts";

/** The time before a rollout with which its stages are compared. */
const BEFORE_MS = 7 * DAY_MS;

/** The runtimes whose commands before the rollout are counted: those with the most. */
const MOST_RUNTIMES = 500;

/** The stores that figures are read from. */
export interface FigureNeeds {
  readonly rollouts: Pick<RolloutStore, "fetched">;
  readonly fleet: Pick<FleetStore, "list">;
  readonly audit: Pick<AuditStore, "histogram" | "facets">;
}

/** The commands of each runtime before a rollout. */
type Baseline = ReadonlyMap<string, Decided>;

/** The baseline of the newest rollout of each organization: events of the past hardly change. */
const baselines = new WeakMap<object, Map<string, { rollout: string; baseline: Baseline }>>();

/**
 * Reads the figures of all stages of a rollout at a moment (milliseconds), each for the runtimes of the stage and of the
 * stages before it. Works in slices, so that other requests run in between. The stages of an ended rollout have the figures
 * that were stored with them.
 */
export async function figuresOf(
  needs: FigureNeeds,
  organization: string,
  rollout: Rollout,
  now: number,
  signal?: AbortSignal,
): Promise<readonly (StageFigures | undefined)[]> {
  const { id, version, stages, current_stage: current } = rollout;
  if (!isOpen(rollout)) return stages.map(({ figures }) => figures);
  const fetched = await needs.rollouts.fetched(organization, id);
  const baseline = await baselineOf(needs, organization, rollout, signal);
  const all = { id, version, stages: stages.map(selectorOf) };
  const counts = stages.map(() => ({ ...ZERO }));
  const countOne = (runtime: StoredRuntime): void => {
    const count = counts[firstSelecting(all, runtime)];
    if (count === undefined) return;
    const reports = runtime.policy_version === version;
    const has = reports || fetched.has(runtime.name);
    const before = baseline.get(runtime.name) ?? NONE;
    count.assigned++;
    if (has) count.fetched++;
    if (reports) count.reporting++;
    if (has && now - runtime.last_seen >= ONLINE_MS) count.silent++;
    count.commands += before.commands;
    count.denied += before.denied;
  };
  const yielder = new Yielder(signal);
  for await (const slice of await needs.fleet.list(organization, { now, active: "" })) {
    for (const runtime of slice) {
      countOne(runtime);
      if (yielder.isDue) await yielder.step();
    }
  }
  const after = await decidedSince(needs, organization, rollout, now, signal);
  const sum = { ...ZERO };
  return counts.map((count, i) => {
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += count[name];
    const { commands, denied, ...runtimes } = sum;
    const own = i === current - 1 ? after : stages[i]?.figures?.after;
    return { ...runtimes, before: { commands, denied }, ...(own && { after: own }) };
  });
}

const NONE: Decided = { commands: 0, denied: 0 };
const ZERO = { assigned: 0, fetched: 0, reporting: 0, silent: 0, ...NONE };

/** Counts the commands that the version decided since the current stage is observed. */
async function decidedSince(
  { audit }: FigureNeeds,
  organization: string,
  { version, observed_from }: Rollout,
  now: number,
  signal?: AbortSignal,
): Promise<Decided> {
  const from = Date.parse(observed_from);
  const to = Math.max(from, now) + 1; // one bucket, up to and including this moment
  const filter = { policy: version, from, to };
  const { allowed, denied } = await audit.histogram(organization, filter, from, to, to - from, {
    gone: signal,
  });
  return decidedOf(sumOf(allowed), sumOf(denied));
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function decidedOf(allowed: number, denied: number): Decided {
  return { commands: allowed + denied, denied };
}

/** Reads the commands before a rollout by runtime, once for each rollout. */
async function baselineOf(
  { audit }: FigureNeeds,
  organization: string,
  { id, created_at }: Rollout,
  signal?: AbortSignal,
): Promise<Baseline> {
  let own = baselines.get(audit);
  if (own === undefined) baselines.set(audit, (own = new Map()));
  const known = own.get(organization);
  if (known?.rollout === id) return known.baseline;
  const to = Date.parse(created_at);
  const counted = async (decision: string): Promise<ReadonlyMap<string, number>> => {
    const filter = { decision, from: to - BEFORE_MS, to };
    const { values } = await audit.facets(organization, filter, MOST_RUNTIMES, { gone: signal });
    return new Map(values.get("runtime"));
  };
  const allowed = await counted("ALLOWED");
  const denied = await counted("DENIED");
  const names = new Set([...allowed.keys(), ...denied.keys()]);
  const baseline = new Map(
    [...names].map((name) => [name, decidedOf(allowed.get(name) ?? 0, denied.get(name) ?? 0)]),
  );
  own.set(organization, { rollout: id, baseline });
  return baseline;
}
