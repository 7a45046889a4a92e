/** An open demo over the stores of a service: it seeds empty stores, limits them, and reports events. */
import type { DeclaredCapability } from "../catalog/document.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { describeError, type Log } from "../core/log.ts";
import { Queue } from "../core/scheduling/queue.ts";
import { clearInterval, setInterval } from "../core/timers.ts";
import type { EngineDemo } from "../engine.ts";
import { createCommands } from "./commands.ts";
import { DEMO_LIMITS, nextReset } from "./limits.ts";
import { Pulse, type Candidates } from "./pulse.ts";
import { seedDemo, type SeededStores } from "./seeding.ts";
import { createTraffic } from "./traffic.ts";

/** The parts of a demo. */
export interface DemoParts {
  readonly organization: string;
  readonly stores: SeededStores;
  readonly assignments: Candidates;
  readonly state: EngineDemo;
  /** From the shipped catalog, even if the service shows another one. */
  readonly capabilities: readonly DeclaredCapability[];
  readonly now: Clock;
  readonly log: Log;
}

/** A running demo. */
export interface Demo {
  /** In milliseconds; `undefined` for a directory with real data, which is never reset. */
  readonly nextResetAt: number | undefined;
  /** Sends the due reports, and resolves when they are stored; failures are logged. */
  beat(): Promise<void>;
  /** Stops the beats, and resolves when the last one is done. */
  close(): Promise<void>;
}

const SEED = 20_261_120;
const BEAT_MS = 5 * SECOND_MS;

/** Opens a demo, which beats every five seconds by itself. */
export async function openDemo(parts: DemoParts): Promise<Demo> {
  const { organization, stores, assignments, now, log } = parts;
  const traffic = createTraffic(createCommands(parts.capabilities), SEED);
  const seededAt = await seededSince(parts, () => {
    const seed = { organization, now: now(), traffic };
    return seedDemo(stores, seed).then(() => seed.now);
  });
  const nextResetAt = seededAt === undefined ? undefined : nextReset(seededAt);
  const pulse =
    seededAt === undefined
      ? undefined
      : new Pulse({ organization, ...stores, assignments, traffic, now, seededAt });

  // Apart from each other: a report may wait for the check of a visitor's policy, and is refused when the disk is full.
  const reports = inTurn("the demo could not report", log, async () => pulse?.beat());
  const trims = inTurn("the demo could not remove old events", log, async () => {
    if (pulse) await stores.audit.trim(organization, DEMO_LIMITS.audit);
  });
  let beating: Promise<unknown> = Promise.resolve();
  const beat = async (): Promise<void> => {
    await (beating = Promise.all([reports(), trims()]));
  };
  const timer = pulse && setInterval(() => void beat(), BEAT_MS).unref();
  return {
    nextResetAt,
    beat,
    async close() {
      clearInterval(timer);
      await beating;
    },
  };
}

/** Runs a task after its earlier runs; a failure is logged. */
function inTurn(failure: string, log: Log, task: () => Promise<void>): () => Promise<void> {
  const queue = new Queue();
  return () =>
    queue.run(task).catch((error: unknown) => {
      log.error(failure, { error: describeError(error) });
    });
}

/** The time at which the directory was seeded; `undefined` if it is not a demo's directory. */
async function seededSince(
  { state, log }: DemoParts,
  seed: () => Promise<number>,
): Promise<number | undefined> {
  if (state.found === "foreign") {
    log.warn(
      "DEMO=true over a directory that holds other data: it is not seeded, never reset, and its " +
        "events are kept; only what requests may do is limited",
    );
    return undefined;
  }
  if (state.found !== "empty") return state.found.seededAt;
  const seededAt = await seed();
  await state.markSeeded(seededAt);
  log.info("seeded the demo");
  return seededAt;
}
