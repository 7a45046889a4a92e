import { setImmediate as turn } from "node:timers/promises";

const SLICE_MS = 1.5;

/** Cuts long work into slices of about a millisecond, between which the loop serves others. */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();

  constructor(signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#signal = signal;
  }

  /** Whether the slice is used up; then `rest` is due. */
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
}
