import type { UnitOfWork } from "../activity/unit-of-work.ts";
import type { ActivityStore } from "../activity/store.ts";
import type { Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { Conflict } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { describeError, type Log } from "../core/log.ts";
import { formatTimestamp } from "../core/time.ts";
import { clearInterval, setInterval } from "../core/timers.ts";
import type { RolloutAssignments } from "./assignments.ts";
import { figuresOf, type FigureNeeds } from "./figures.ts";
import { endingAction, gateEntry } from "./gate-entry.ts";
import { judge } from "./gates.ts";
import type { StageFigures } from "./schema.ts";
import { GATE, type Step } from "./state.ts";
import { takeStep, type StepNeeds } from "./steps.ts";
import type { OpenOf, RolloutStore } from "./store.ts";

/** The time between two rounds, by the clock of the service. */
const ROUND_MS = 15 * SECOND_MS;
/**
 * The time between two looks for rollouts that an activation has ended. Until that is stored, a return to the version
 * before would continue them.
 */
const ENDED_MS = SECOND_MS;
/** The time between two looks at the clock. */
const LOOK_MS = 250;

/** Runs work on one server at a time; `undefined` if another server is doing it. */
export type Exclusively = <T>(name: string, work: () => Promise<T>) => Promise<T | undefined>;

interface StepStores extends StepNeeds {
  readonly activity: Pick<ActivityStore, "append">;
}

interface RunnerParts {
  readonly stores: StepNeeds &
    FigureNeeds & { readonly rollouts: Pick<RolloutStore, "open" | "fetched"> };
  readonly commit: UnitOfWork<StepStores>;
  readonly exclusively: Exclusively;
  readonly assignments: Pick<RolloutAssignments, "flushAll">;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly log: Log;
}

/** A step that a gate takes, and the name under which it is recorded. */
interface GateStep {
  readonly action: string;
  readonly step: Step;
  readonly figures?: StageFigures | undefined;
}

/** Judges the open rollouts in rounds, and takes the steps of their gates. */
export class RolloutRunner {
  readonly #parts: RunnerParts;
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #ranAt = -Infinity;
  #lookedAt = -Infinity;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /**
   * One round: stores the fetches of this server, and judges each open rollout. One whose fetches could not be stored waits
   * for the next round: the gates would not see all silent runtimes. Rejects only if no rollout can be read.
   */
  async round(): Promise<void> {
    const unstored = await this.#flush();
    await this.#stepAll(({ organization }) => !unstored.has(organization));
  }

  /** Stores the fetches of this server, and logs failures; returns the organizations that failed. */
  async #flush(): Promise<Pick<ReadonlySet<string>, "has">> {
    const failures = await this.#parts.assignments.flushAll();
    for (const [organization, error] of failures) {
      const fields = { organization, error: describeError(error) };
      this.#parts.log.error("the fetches of a rollout could not be stored", fields);
    }
    return failures;
  }

  /** Stores the end of the rollouts that an activation has ended. */
  async #endSuperseded(): Promise<void> {
    const { policies } = this.#parts.stores;
    await this.#stepAll(
      async ({ organization, rollout }) =>
        (await policies.activeVersion(organization)) !== rollout.base_version,
    );
  }

  async #stepAll(isWanted: (open: OpenOf) => Awaitable<boolean>): Promise<void> {
    const { stores, exclusively, log } = this.#parts;
    const wanted = async (): Promise<readonly OpenOf[]> => {
      const found: OpenOf[] = [];
      for (const open of await stores.rollouts.open()) if (await isWanted(open)) found.push(open);
      return found;
    };
    if ((await wanted()).length === 0) return;
    await exclusively("rollouts", async () => {
      for (const open of await wanted()) {
        await this.#judge(open).catch((error: unknown) => {
          if (error instanceof Conflict) return; // another step came first
          const { organization, rollout } = open;
          const fields = { organization, id: rollout.id, error: describeError(error) };
          log.error("a rollout could not be judged", fields);
        });
      }
    });
  }

  /** Ends the rounds; resolves when the current one is done and the fetches of this server are stored. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    await this.#flush();
  }

  #look(): void {
    const now = this.#parts.now();
    // The clock may be set back.
    if (this.#isRunning || Math.abs(now - this.#lookedAt) < ENDED_MS) return;
    this.#lookedAt = now;
    const isRound = Math.abs(now - this.#ranAt) >= ROUND_MS;
    if (isRound) this.#ranAt = now;
    this.#isRunning = true;
    this.#running = (isRound ? this.round() : this.#endSuperseded())
      .catch((error: unknown) => this.#report(error))
      .finally(() => void (this.#isRunning = false));
  }

  #report(error: unknown): void {
    this.#parts.log.error("the rollouts could not be judged", { error: describeError(error) });
  }

  async #judge(open: OpenOf): Promise<void> {
    const { commit, ids, log, now } = this.#parts;
    const at = now();
    const next = await this.#stepOf(open, at);
    if (next === undefined) return;
    const { organization, rollout } = open;
    const { action, step, figures } = next;
    const stepping = { by: GATE, at: formatTimestamp(at), figures };
    const after = await commit(async (stores) => {
      const taken = await takeStep(stores, organization, rollout.id, step, stepping);
      const entry = taken && gateEntry(ids, organization, action, stepping.at, taken);
      return { result: taken?.after, entry };
    });
    if (after) log.info("a rollout took a step", { organization, id: after.id, action });
  }

  /** The step that a rollout takes by itself at a moment; `undefined` if it waits. */
  async #stepOf({ organization, rollout }: OpenOf, at: number): Promise<GateStep | undefined> {
    const { stores } = this.#parts;
    const { state, base_version: base, current_stage: stage } = rollout;
    const version = await stores.policies.activeVersion(organization);
    if (version !== base) {
      const action = endingAction(rollout, version);
      return { action, step: { kind: "activated", version } };
    }
    if (state !== "running") return undefined;
    const figures = (await figuresOf(stores, organization, rollout, at))[stage - 1];
    if (figures === undefined) return undefined;
    const { outcome, reasons } = judge(rollout, figures, at);
    if (outcome === "waiting") return undefined;
    if (outcome === "passed") {
      return { action: "rollout.pass", step: { kind: "pass", stage }, figures };
    }
    const reason = reasons.join("; ");
    return { action: "rollout.breach", step: { kind: "breach", stage, reason }, figures };
  }
}
