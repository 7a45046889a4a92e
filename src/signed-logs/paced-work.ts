import { SECOND_MS, type Clock } from "../core/clock.ts";
import { setTimeout } from "../core/timers.ts";

/** Waits for some milliseconds. */
export type Wait = (ms: number) => Promise<void>;

/** Waits without keeping the process alive. */
export const waitMs: Wait = (ms) => new Promise((resolve) => void setTimeout(resolve, ms).unref());

/**
 * Work that callers cause, run at most once a second. Callers in between share the next run, so there are at most
 * two runs at a time: one that works, and one that waits.
 */
export class PacedWork {
  readonly #work: () => Promise<void>;
  readonly #now: Clock;
  readonly #wait: Wait;
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #startedAt = -Infinity;

  /** @param work never rejects */
  constructor(work: () => Promise<void>, now: Clock, wait: Wait) {
    this.#work = work;
    this.#now = now;
    this.#wait = wait;
  }

  /** Resolves when a run has ended that began after this call. */
  run(): Promise<void> {
    return (this.#next ??= this.#begin());
  }

  async #begin(): Promise<void> {
    await this.#current;
    // The clock may be set back.
    const rest = SECOND_MS - Math.abs(this.#now() - this.#startedAt);
    if (rest > 0) await this.#wait(rest);
    this.#next = undefined;
    this.#startedAt = this.#now();
    this.#current = this.#work();
    await this.#current;
  }
}
