import { setImmediate, systemStopwatch } from "../../../../core/timers.ts";
import type { Work } from "../../../../core/scheduling/work.ts";

/** A step, which is done at once or returns work that yields after every small part. */
export type Step = () => Work<void> | void;

/** The slice of all steps in one turn of the loop. Longer than that of a search, since clients that report events wait for it. */
const SLICE_MS = 4;

/**
 * Runs steps one after another, in the order in which they are added. A step runs at once if no other step
 * waits, and the steps of this turn of the loop have not used up the slice: one sync may end many small batches.
 * Long work goes on in later turns, and the steps behind it wait for its end.
 */
export class InOrder {
  readonly #waiting: Step[] = [];
  #work: Work<void> | undefined;
  #isScheduled = false;
  /** When the first step of this turn began. */
  #since: number | undefined;

  do(step: Step): void {
    if (this.#isScheduled || !this.#hasTime()) this.#waiting.push(step);
    else this.#work = step() ?? undefined;
    const isDone = this.#work === undefined && this.#waiting.length === 0;
    if (!this.#isScheduled && !isDone) this.#goOn();
  }

  /** Resolves when all added steps are done. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.do(resolve));
  }

  readonly #goOn = (): void => {
    this.#isScheduled = true;
    while (this.#hasTime()) {
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

  #hasTime(): boolean {
    const now = systemStopwatch();
    if (this.#since === undefined) {
      this.#since = now;
      setImmediate(() => (this.#since = undefined));
    }
    return now - this.#since < SLICE_MS;
  }
}
