import { isSelected } from "../core/assigned-version.ts";
import type { Assignments, Expected, OpenRollout } from "../core/assignment.ts";
import { whenReady, type Awaitable } from "../core/caller.ts";
import type { FleetStore } from "../fleet/store.ts";
import type { Policy } from "../policies/schema.ts";
import type { PolicyStore } from "../policies/store.ts";
import type { RolloutStore } from "./store.ts";

/** The most characters of the names that are remembered for one rollout: anyone can send names. */
const MOST_CHARACTERS = 16 << 20;

export interface AssignmentNeeds {
  readonly rollouts: Pick<RolloutStore, "expected" | "addFetched">;
  readonly fleet: Pick<FleetStore, "labels" | "known">;
  readonly policies: Pick<PolicyStore, "get">;
}

/** A rollout that has not ended: its policy, and the names that have fetched its version. */
interface Served {
  readonly rollout: string;
  /** The same object for all fetches; `undefined` until the first one has read it. */
  policy: Policy | undefined;
  readonly names: Set<string>;
  /** Those of the names that are not stored yet. */
  readonly unstored: Set<string>;
  /** The length of all names together. */
  characters: number;
}

/**
 * Answers which policy version a runtime gets. Without an open rollout, an answer costs one look-up. Methods answer at
 * once if the stores do.
 */
export class RolloutAssignments implements Assignments {
  readonly #needs: AssignmentNeeds;
  /** By organization. */
  readonly #served = new Map<string, Served>();

  constructor(needs: AssignmentNeeds) {
    this.#needs = needs;
  }

  expected(organization: string): Awaitable<Expected> {
    return this.#needs.rollouts.expected(organization);
  }

  assigned(organization: string, runtime: string): Awaitable<string> {
    return whenReady(this.expected(organization), ({ active, rollout }) =>
      whenReady(this.#isSelected(organization, runtime, rollout), (isSelected) =>
        rollout && isSelected ? rollout.version : active,
      ),
    );
  }

  /** The policy of the open rollout if a runtime gets it, which is recorded as fetched; `undefined`: the active one. */
  candidate(organization: string, runtime: string): Awaitable<Policy | undefined> {
    return whenReady(this.expected(organization), ({ rollout }) =>
      whenReady(this.#isSelected(organization, runtime, rollout), (isSelected) => {
        if (!rollout || !isSelected) return undefined;
        const served = this.#servedOf(organization, rollout.id);
        record(served, runtime);
        return served.policy ?? this.#readPolicy(organization, rollout.version, served);
      }),
    );
  }

  /**
   * Stores which runtimes of an organization's fleet have fetched. Other names are forgotten, so that a runtime that fetches
   * before its first report counts from its next fetch on. All names stay in memory if storing fails, and are forgotten
   * with the policy when the rollout has ended.
   */
  async flush(organization: string): Promise<void> {
    const served = this.#served.get(organization);
    if (served === undefined) return;
    await this.#store(organization, served);
    const { rollout } = await this.expected(organization);
    // A rollout that an activation has ended may be continued, by a return to the version before.
    const isOver = rollout?.id !== served.rollout && served.unstored.size === 0;
    if (isOver && this.#served.get(organization) === served) this.#served.delete(organization);
  }

  /**
   * Does the same for all organizations at once, since each may wait for a database that does not answer.
   *
   * @returns the error of each one that failed
   */
  async flushAll(): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>();
    const flushing = Array.from(this.#served.keys(), (organization) =>
      this.flush(organization).catch((error: unknown) => failures.set(organization, error)),
    );
    await Promise.all(flushing);
    return failures;
  }

  /** Whether an open rollout selects a runtime. */
  #isSelected(
    organization: string,
    name: string,
    rollout: OpenRollout | undefined,
  ): Awaitable<boolean> {
    if (rollout === undefined) return false;
    const needsLabels = rollout.stages.some(({ labels }) => labels !== undefined);
    // Without labels a runtime that was selected once stays selected, since stages add up.
    if (!needsLabels && this.#hasFetched(organization, rollout.id, name)) return true;
    const labels = needsLabels ? this.#needs.fleet.labels(organization, name) : undefined;
    return whenReady(labels, (own) => isSelected(rollout, { name, labels: own }));
  }

  async #store(organization: string, served: Served): Promise<void> {
    const { rollout, names, unstored } = served;
    if (unstored.size === 0) return;
    const asked = [...unstored];
    const known = new Set(await this.#needs.fleet.known(organization, asked));
    if (known.size > 0) await this.#needs.rollouts.addFetched(organization, rollout, [...known]);
    for (const name of asked) {
      unstored.delete(name);
      if (!known.has(name) && names.delete(name)) served.characters -= name.length;
    }
  }

  async #readPolicy(
    organization: string,
    version: string,
    served: Served,
  ): Promise<Policy | undefined> {
    return (served.policy = await this.#needs.policies.get(organization, version));
  }

  #hasFetched(organization: string, rollout: string, runtime: string): boolean {
    const served = this.#served.get(organization);
    return served?.rollout === rollout && served.names.has(runtime);
  }

  #servedOf(organization: string, rollout: string): Served {
    const known = this.#served.get(organization);
    if (known?.rollout === rollout) return known;
    const served: Served = {
      ...{ rollout, policy: undefined },
      ...{ names: new Set(), unstored: new Set(), characters: 0 },
    };
    this.#served.set(organization, served);
    return served;
  }
}

function record(served: Served, runtime: string): void {
  if (served.names.has(runtime)) return;
  if (served.characters + runtime.length > MOST_CHARACTERS) return;
  served.characters += runtime.length;
  served.names.add(runtime);
  served.unstored.add(runtime);
}
