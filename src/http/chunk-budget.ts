import type { Stopwatch } from "../core/clock.ts";
import { setImmediate, systemStopwatch } from "../core/timers.ts";

/** The chunks of all bodies in one turn of the event loop: about 28 ms, since Node makes a buffer of each. */
const MOST_OF_A_TURN = 16_384;
/** The small chunks of all bodies in a row, about 80 ms, and those that each millisecond allows again. */
const MOST_SMALL = 65_536;
const SMALL_OF_A_MILLISECOND = 32;

/**
 * Counts the chunks of all bodies. What Node has read of a connection already, up to 64 KiB, cannot wait: 600 connections
 * that sent 2,000 small chunks each at once held up all others for five seconds. And Node accepts one connection in a turn,
 * also one that its client has closed, with all that it sent. So small chunks are counted over time, too: 50 connections at a
 * time that sent 2,000 each and closed, 5 MB a second together, held up new connections for fifteen seconds.
 */
export class ChunkBudget {
  readonly #now: Stopwatch;
  #ofTurn = 0;
  #small = MOST_SMALL;
  #givenAt: number;

  constructor(now = systemStopwatch) {
    this.#now = now;
    this.#givenAt = now();
  }

  /** Takes a chunk. Returns whether the budget allowed it. */
  take(isSmall: boolean): boolean {
    if (this.#ofTurn++ === 0) this.#beginTurn();
    if (this.#ofTurn > MOST_OF_A_TURN || (isSmall && this.#small < 1)) return false;
    if (isSmall) this.#small--;
    return true;
  }

  #beginTurn(): void {
    setImmediate(() => (this.#ofTurn = 0));
    const now = this.#now();
    const given = (now - this.#givenAt) * SMALL_OF_A_MILLISECOND;
    this.#small = Math.min(MOST_SMALL, this.#small + given);
    this.#givenAt = now;
  }
}
