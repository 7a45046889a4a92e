import { assignedVersion } from "../../src/core/assigned-version.ts";
import type { Expected } from "../../src/core/assignment.ts";
import { labelLength, type Labels } from "../../src/core/labels.ts";
import type { Quota } from "../../src/core/quota.ts";
import type { Searcher } from "../../src/core/scheduling/fair-share.ts";
import { isDrifted } from "../../src/fleet/drift.ts";
import { fitting } from "../../src/fleet/filter.ts";
import { inSlices } from "../../src/fleet/listing.ts";
import type { Heartbeat } from "../../src/fleet/schema.ts";
import { statusAfter } from "../../src/fleet/status.ts";
import type {
  FleetCounts,
  FleetPage,
  FleetQuery,
  FleetStore,
  ForgottenRuntimes,
  Kept,
  PolicyCount,
  StoredRuntime,
} from "../../src/fleet/store.ts";

/** A fleet in its plainest form. */
export class MemoryFleet implements FleetStore {
  /** The runtimes of each organization by name; the one with the latest report is at the end. */
  readonly #fleets = new Map<string, Map<string, StoredRuntime>>();

  heartbeat(
    organization: string,
    heartbeat: Heartbeat,
    at: number,
    kept: Kept,
    quota?: Quota,
    labelQuota?: Quota,
  ): void {
    const own = this.#fleets.get(organization) ?? new Map<string, StoredRuntime>();
    const before = own.get(heartbeat.name);
    const { labels = before?.labels } = heartbeat;
    const growth = labelLength(labels) - labelLength(before?.labels);
    const used = [...own.values()].reduce((sum, one) => sum + labelLength(one.labels), 0);
    const refusal =
      (before ? undefined : quota?.refusal(own.size)) ??
      (growth > 0 ? labelQuota?.refusal(used + growth - 1) : undefined);
    if (refusal) return kept(refusal);
    const newest = [...own.values()].at(-1)?.last_seen ?? -Infinity;
    own.delete(heartbeat.name);
    own.set(heartbeat.name, { ...before, ...given(heartbeat), last_seen: Math.max(at, newest) });
    this.#fleets.set(organization, own);
    kept(undefined, before === undefined);
  }

  get(organization: string, name: string): StoredRuntime | undefined {
    return this.#fleets.get(organization)?.get(name);
  }

  async page(
    organization: string,
    query: FleetQuery,
    limit: number,
    offset: number,
    searcher?: Searcher,
  ): Promise<FleetPage> {
    searcher?.gone?.throwIfAborted();
    const found = this.#found(organization, query);
    return { runtimes: found.slice(offset, offset + limit), total: found.length };
  }

  list(organization: string, query: FleetQuery): AsyncIterable<readonly StoredRuntime[]> {
    return inSlices(this.#found(organization, query));
  }

  async counts(organization: string, now: number, expected: Expected): Promise<FleetCounts> {
    const all = this.#found(organization, { now, active: "" });
    const those = (status: string): number =>
      all.filter(({ last_seen }) => statusAfter(now - last_seen) === status).length;
    const drifted = all.filter((runtime) => {
      const status = statusAfter(now - runtime.last_seen);
      const { policy_version } = runtime;
      return isDrifted({ status, policy_version }, assignedVersion(expected, runtime));
    });
    return {
      online: those("online"),
      idle: those("idle"),
      drifted: drifted.length,
      total: all.length,
    };
  }

  async policies(
    organization: string,
    now: number,
    limit: number,
  ): Promise<readonly PolicyCount[]> {
    const counts = new Map<string, { runtimes: number; present: number }>();
    for (const { policy_version, last_seen } of this.#found(organization, { now, active: "" })) {
      if (policy_version === undefined) continue;
      const count = counts.get(policy_version) ?? { runtimes: 0, present: 0 };
      count.runtimes++;
      if (statusAfter(now - last_seen) !== "offline") count.present++;
      counts.set(policy_version, count);
    }
    return Array.from(counts, ([version, count]) => ({ version, ...count }))
      .sort((a, b) => b.runtimes - a.runtimes)
      .slice(0, limit);
  }

  labels(organization: string, name: string): Labels | undefined {
    return this.get(organization, name)?.labels;
  }

  known(organization: string, names: readonly string[]): readonly string[] {
    return names.filter((name) => this.get(organization, name) !== undefined);
  }

  async forget(organization: string, name: string): Promise<boolean> {
    return this.#fleets.get(organization)?.delete(name) ?? false;
  }

  async forgetSilent(before: number): Promise<readonly ForgottenRuntimes[]> {
    return Array.from(this.#fleets, ([organization, own]) => {
      const silent = [...own.values()].filter(({ last_seen }) => last_seen < before);
      for (const { name } of silent) own.delete(name);
      return { organization, runtimes: silent.length };
    }).filter(({ runtimes }) => runtimes > 0);
  }

  /** Counts the runtimes of all organizations. */
  totals(now: number): { readonly online: number; readonly total: number } {
    const all = [...this.#fleets.values()].flatMap((own) => [...own.values()]);
    const online = all.filter(({ last_seen }) => statusAfter(now - last_seen) === "online");
    return { online: online.length, total: all.length };
  }

  #found(organization: string, query: FleetQuery): readonly StoredRuntime[] {
    const fits = fitting(query);
    const newestFirst = [...(this.#fleets.get(organization)?.values() ?? [])].reverse();
    return fits ? newestFirst.filter((row) => fits(row, row.last_seen)) : newestFirst;
  }
}

/** Leaves out absent fields, so that they keep their values. */
function given(heartbeat: Heartbeat): Heartbeat {
  return JSON.parse(JSON.stringify(heartbeat)) as Heartbeat;
}
