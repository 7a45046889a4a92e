import { setImmediate, systemStopwatch } from "../../../../core/timers.ts";
import type { Work } from "../../../../core/work.ts";

/** A step that is done at once, or returns work that yields after every small part. */
export type Step = () => Work<void> | void;

/** Longer than the slice of a search: clients that report events wait for these steps. */
const SLICE_MS = 4;

/**
 * Does steps one after another, in the order in which they are given. A step is done at once while no other
 * one waits. Long work goes on in later turns of the loop, and the steps behind it wait for its end.
 */
export class InOrder {
  readonly #waiting: Step[] = [];
  #work: Work<void> | undefined;
  #isScheduled = false;

  do(step: Step): void {
    if (this.#isScheduled) this.#waiting.push(step);
    else if ((this.#work = step() ?? undefined) !== undefined) this.#goOn();
  }

  /** Resolves when every step that was given is done. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.do(resolve));
  }

  readonly #goOn = (): void => {
    this.#isScheduled = true;
    const since = systemStopwatch();
    while (systemStopwatch() - since < SLICE_MS) {
      if (this.#work?.next().done === false) continue;
      const next = this.#waiting.shift();
      this.#work = next?.() ?? undefined;
      if (next === undefined) {
        this.#isScheduled = false;
        return;
      }
    }
    setImmediate(this.#goOn);
  };
}
