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

/** The policy of an open rollout, the same object for all of its fetches. */
interface Candidate {
  readonly rollout: string;
  readonly policy: Policy;
}

/** The names that have fetched the version of a rollout. */
interface Fetches {
  readonly rollout: string;
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
  /** By organization, as are the fetches. */
  readonly #candidates = new Map<string, Candidate>();
  readonly #fetches = new Map<string, Fetches>();

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
        this.#record(organization, rollout.id, runtime);
        const known = this.#candidates.get(organization);
        if (known?.rollout === rollout.id) return known.policy;
        return this.#read(organization, rollout.id, rollout.version);
      }),
    );
  }

  /**
   * Stores which runtimes of an organization's fleet have fetched. Other names are forgotten, so that a runtime that fetches
   * before its first report counts from its next fetch on. All names stay in memory if storing fails.
   */
  async flush(organization: string): Promise<void> {
    const fetches = this.#fetches.get(organization);
    if (fetches === undefined) return;
    const { rollout, names, unstored } = fetches;
    if (unstored.size === 0) return;
    const asked = [...unstored];
    const known = new Set(await this.#needs.fleet.known(organization, asked));
    if (known.size > 0) await this.#needs.rollouts.addFetched(organization, rollout, [...known]);
    for (const name of asked) {
      unstored.delete(name);
      if (!known.has(name) && names.delete(name)) fetches.characters -= name.length;
    }
  }

  /** Does the same for all organizations; returns the error of each one that failed. */
  async flushAll(): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>();
    for (const organization of this.#fetches.keys()) {
      await this.flush(organization).catch((error: unknown) => failures.set(organization, error));
    }
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

  async #read(organization: string, rollout: string, version: string): Promise<Policy | undefined> {
    const policy = await this.#needs.policies.get(organization, version);
    if (policy) this.#candidates.set(organization, { rollout, policy });
    return policy;
  }

  #hasFetched(organization: string, rollout: string, runtime: string): boolean {
    const fetches = this.#fetches.get(organization);
    return fetches?.rollout === rollout && fetches.names.has(runtime);
  }

  #record(organization: string, rollout: string, runtime: string): void {
    let fetches = this.#fetches.get(organization);
    if (fetches?.rollout !== rollout) {
      fetches = { rollout, names: new Set(), unstored: new Set(), characters: 0 };
      this.#fetches.set(organization, fetches);
    }
    if (fetches.names.has(runtime)) return;
    if (fetches.characters + runtime.length > MOST_CHARACTERS) return;
    fetches.characters += runtime.length;
    fetches.names.add(runtime);
    fetches.unstored.add(runtime);
  }
}
