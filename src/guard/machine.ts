/** The guard in its process: environment, clock, directory, and the report of each decision. */
import { closeSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../core/clock.ts";
import type { Attempt } from "./attempt.ts";
import { decide, noteOf, type GuardContext, type Ruling, undecided } from "./decide.ts";
import { directoryFault } from "./directory.ts";
import { readPolicy } from "./policy-file.ts";
import { openRegular } from "./regular-file.ts";
import {
  guardDirectory,
  readSettings,
  userName,
  type Environment,
  type GuardSettings,
} from "./settings.ts";
import { APPEND, spool, type SpooledEvent } from "./spool.ts";

/** The process in which the guard runs. */
export interface Machine {
  readonly env: Environment;
  readonly now: Clock;
  readonly version: string;
  /** The program's file: `sync` is started from it, and hooks contain its path. */
  readonly program: string;
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

const SYNC_EVERY_MS = 30_000;

/** One run of the guard. */
export class Guard implements GuardContext {
  readonly settings: GuardSettings;
  readonly user: string;
  readonly version: string;
  readonly clock: Clock;
  readonly now: number;
  /** The fault of the directory; a faulty directory is neither read nor written. */
  readonly fault: string | undefined;
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.fault = directoryFault(guardDirectory(machine.env));
    this.settings = readSettings(machine.env, this.fault === undefined);
    this.user = userName(machine.env);
    this.version = machine.version;
    this.clock = machine.now;
    this.now = machine.now();
  }

  /** Decides an attempt and reports it. */
  decide(attempt: Attempt): Ruling {
    for (const fault of this.settings.faults) this.#machine.error(`signalbox guard: ${fault}\n`);
    if (attempt.kind === "after") return this.#report(decide(attempt, "", this));
    const { directory, api } = this.settings;
    return this.#report(decide(attempt, this.fault ?? readPolicy(directory, api), this));
  }

  /** Reports an attempt whose payload could not be read. */
  undecided(transport: string, why: string): Ruling {
    return this.#report(undecided({ transport, consumer: "ai" }, why, this));
  }

  /** An event about the guard itself. */
  note(message: string): SpooledEvent {
    return noteOf(message, this);
  }

  #report(ruling: Ruling): Ruling {
    const { directory, failsClosed, observes } = this.settings;
    if (this.fault !== undefined) {
      this.#machine.error(`signalbox guard: ${this.fault}\n`);
      return ruling;
    }
    try {
      const dropped = (count: number) =>
        this.note(`The spool was full: the ${count} oldest events were dropped`);
      spool(directory, ruling.event, dropped);
    } catch (error) {
      const why = `the event cannot be kept: ${(error as Error).message}`;
      this.#machine.error(`signalbox guard: ${why}\n`);
      const isObserved = observes || ruling.event["observed_decision"] !== undefined;
      return failsClosed && !isObserved ? { ...ruling, refusal: ruling.refusal ?? why } : ruling;
    }
    return ruling;
  }

  /** Starts a process that sends the events and fetches the policy, at most once in 30 seconds. */
  async startSync(): Promise<void> {
    const { directory, isEnabled } = this.settings;
    if (!isEnabled || this.fault !== undefined) return;
    const now = this.#machine.now();
    const path = join(directory, "last-sync");
    try {
      const last = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
      if (Math.abs(now - last) < SYNC_EVERY_MS) return; // `abs`: a clock that was set back must not block it
      closeSync(openRegular(path, APPEND));
      utimesSync(path, now / 1_000, now / 1_000);
      const { spawn } = await import("node:child_process");
      const args = [...process.execArgv, this.#machine.program, "sync", "--quiet"];
      const options = { detached: true, stdio: "ignore", env: this.#machine.env } as const;
      spawn(process.execPath, args, options)
        .on("error", () => {})
        .unref();
    } catch {
      // The next command tries again.
    }
  }
}
