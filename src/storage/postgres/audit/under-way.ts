/** Counts the transactions under way, and decides whether another one may begin. */
import { clearTimeout, setTimeout } from "../../../core/timers.ts";

/** Two transactions: while the database commits one, it already reads the next. */
const MOST_UNDER_WAY = 2;
/** While fewer events than this are to be stored, one: a transaction itself costs the database as much as twenty events. */
const FEW_EVENTS = 100;
/**
 * A transaction that takes longer is slow, and few events do not wait for it. It stores long events, or waits for another
 * server's events of the same organization: the single events of all others took 200 ms instead of 4.
 */
const PATIENCE_MS = 10;

/** The transactions under way. */
export class UnderWay {
  readonly #patienceMs: number;
  #count = 0;
  #slow = 0;

  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Whether another transaction may begin, with that number of events to be stored. */
  mayBegin(events: number): boolean {
    const areFew = events < FEW_EVENTS && this.#slow === 0;
    return this.#count < (areFew ? 1 : MOST_UNDER_WAY);
  }

  /** Begins a transaction; calls `slow` if it takes long. Call the returned function at its end. */
  begin(slow: () => void): () => void {
    let isSlow = false;
    this.#count++;
    const patience = setTimeout(() => {
      isSlow = true;
      this.#slow++;
      slow();
    }, this.#patienceMs);
    return () => {
      clearTimeout(patience);
      this.#count--;
      if (isSlow) this.#slow--;
    };
  }
}
