import type { Expected, OpenRollout } from "../../src/core/assignment.ts";
import type { Awaitable } from "../../src/core/caller.ts";
import type { Rollout } from "../../src/rollouts/schema.ts";
import { expectedOf, isOpen, openRolloutOf } from "../../src/rollouts/state.ts";
import { kept, refuseSecond, type OpenOf, type RolloutStore } from "../../src/rollouts/store.ts";
import type { MemoryPolicies } from "./memory-policies.ts";

/** Rollouts in their plainest form. */
export class MemoryRollouts implements RolloutStore {
  readonly #policies: MemoryPolicies;
  /** By organization, oldest first. */
  readonly #rollouts = new Map<string, readonly Rollout[]>();
  /** By rollout. */
  readonly #fetched = new Map<string, Set<string>>();

  readonly #opened = new WeakMap<Rollout, OpenRollout>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(policies: MemoryPolicies) {
    this.#policies = policies;
  }

  expected(organization: string): Expected {
    const newest = this.list(organization)[0];
    const active = this.#policies.activeVersion(organization);
    return expectedOf(active, newest?.base_version, this.#openOf(newest));
  }

  async create(organization: string, rollout: Rollout): Promise<void> {
    const all = this.#rollouts.get(organization) ?? [];
    refuseSecond(all.at(-1));
    this.#rollouts.set(organization, kept([...all, rollout]));
  }

  update(
    organization: string,
    id: string,
    change: (rollout: Rollout) => Awaitable<Rollout>,
  ): Promise<Rollout | undefined> {
    const own = this.#last.then(() => this.#update(organization, id, change));
    this.#last = own.catch(() => undefined);
    return own;
  }

  async #update(
    organization: string,
    id: string,
    change: (rollout: Rollout) => Awaitable<Rollout>,
  ): Promise<Rollout | undefined> {
    const before = this.get(organization, id);
    if (before === undefined) return undefined;
    const after = await change(before);
    const all = this.#rollouts.get(organization) ?? [];
    this.#rollouts.set(
      organization,
      all.map((one) => (one.id === id ? after : one)),
    );
    return after;
  }

  get(organization: string, id: string): Rollout | undefined {
    return this.list(organization).find((one) => one.id === id);
  }

  list(organization: string): readonly Rollout[] {
    return (this.#rollouts.get(organization) ?? []).toReversed();
  }

  open(): readonly OpenOf[] {
    return Array.from(this.#rollouts, ([organization, all]) =>
      all.filter(isOpen).map((rollout) => ({ organization, rollout })),
    ).flat();
  }

  fetched(organization: string, id: string): ReadonlySet<string> {
    const rollout = this.get(organization, id);
    if (!rollout || !isOpen(rollout)) return new Set();
    return this.#fetched.get(id) ?? new Set();
  }

  async addFetched(organization: string, id: string, runtimes: readonly string[]): Promise<void> {
    const rollout = this.get(organization, id);
    if (!rollout || !isOpen(rollout)) return;
    this.#fetched.set(id, new Set([...this.fetched(organization, id), ...runtimes]));
  }

  async restore(organization: string, rollouts: readonly Rollout[]): Promise<void> {
    this.#rollouts.set(organization, rollouts);
  }

  /** The same object for the same rollout. */
  #openOf(rollout: Rollout | undefined): OpenRollout | undefined {
    const known = rollout && this.#opened.get(rollout);
    if (known) return known;
    const opened = openRolloutOf(rollout);
    if (rollout && opened) this.#opened.set(rollout, opened);
    return opened;
  }
}
