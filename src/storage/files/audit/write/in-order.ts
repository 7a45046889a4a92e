import { setImmediate, systemStopwatch } from "../../../../core/timers.ts";
import type { Work } from "../../../../core/work.ts";

/** A step, which is done at once or returns work that yields after every small part. */
export type Step = () => Work<void> | void;

/** The slice of a step. Longer than that of a search, since clients that report events wait for it. */
const SLICE_MS = 4;

/**
 * Runs steps one after another, in the order in which they are added. A step runs at once if no other step
 * waits. Long work goes on in later turns of the loop, and the steps behind it wait for its end.
 */
export class InOrder {
  readonly #waiting: Step[] = [];
  #work: Work<void> | undefined;
  #isScheduled = false;

  do(step: Step): void {
    if (this.#isScheduled) this.#waiting.push(step);
    else if ((this.#work = step() ?? undefined) !== undefined) this.#goOn();
  }

  /** Resolves when all added steps are done. */
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
