import { setImmediate as turn } from "node:timers/promises";
import type { Awaitable } from "../../../core/caller.ts";

const SLICE_MS = 0.5;

/** Cuts long work into slices of about half a millisecond, between which the loop serves others. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#signal = signal;
  }

  /** Whether the slice is used up; then `step` is due. */
  get isDue(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Lets the loop turn when the slice is used up; throws when nobody waits for the answer. */
  async step(): Promise<void> {
    if (!this.isDue) return;
    await turn();
    this.#signal?.throwIfAborted();
    this.#since = performance.now();
  }

  /** Runs work that yields after every small part; its result comes at once if one slice is enough. */
  run<T>(work: Generator<undefined, T>): Awaitable<T> {
    while (!this.isDue) {
      const part = work.next();
      if (part.done === true) return part.value;
    }
    return this.#finish(work);
  }

  async #finish<T>(work: Generator<undefined, T>): Promise<T> {
    for (;;) {
      await this.step();
      const part = work.next();
      if (part.done === true) return part.value;
    }
  }
}
