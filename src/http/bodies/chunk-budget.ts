import { SECOND_MS, type Stopwatch } from "../../core/clock.ts";
import { setImmediate, systemStopwatch } from "../../core/timers.ts";

/** The chunks of all bodies in one turn of the event loop: about 28 ms, since Node makes a buffer of each. */
export const MOST_OF_A_TURN = 16_384;
/** The small chunks of all bodies in a second. */
export const MOST_SMALL = 32_768;
/** The small chunks that each network has in any case: as many as one body may have. */
export const MOST_SMALL_OF_NETWORK = 2_048;

/**
 * Counts the chunks of all bodies. What Node has read of a connection already, up to 64 KiB, cannot wait: 600 connections
 * that sent 2,000 small chunks each at once held up all others for five seconds. And Node accepts one connection in a turn,
 * also one that its client has closed, with all that it sent. So small chunks are counted by the second, too: 50
 * connections at a time that sent 2,000 each and closed, 5 MB a second together, held up new connections for fifteen
 * seconds.
 */
export class ChunkBudget {
  readonly #now: Stopwatch;
  #ofTurn = 0;
  #since: number;
  #small = 0;
  #byNetwork = new Map<string, number>();

  constructor(now = systemStopwatch) {
    this.#now = now;
    this.#since = now();
  }

  /** Takes a chunk; `network` is given if it is a small one that counts. Returns whether the budget allowed it. */
  take(network?: string): boolean {
    if (this.#ofTurn++ === 0) this.#beginTurn();
    if (this.#ofTurn > MOST_OF_A_TURN) return false;
    if (network === undefined) return true;
    const own = (this.#byNetwork.get(network) ?? 0) + 1;
    this.#byNetwork.set(network, own);
    return ++this.#small <= MOST_SMALL || own <= MOST_SMALL_OF_NETWORK;
  }

  #beginTurn(): void {
    setImmediate(() => (this.#ofTurn = 0));
    const now = this.#now();
    if (now - this.#since < SECOND_MS) return;
    this.#since = now;
    this.#small = 0;
    this.#byNetwork = new Map();
  }
}
