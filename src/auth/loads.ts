import { MINUTE_MS, type Clock } from "../core/clock.ts";
import { setNewest } from "../core/set-newest.ts";

const HALF_LIFE_MS = MINUTE_MS;
const MAX_LOADS = 20_000;
/** Lower amounts count as 0, so that an old cost disappears completely. */
const LEAST = 0.01;

interface Load {
  readonly amount: number;
  readonly at: number;
}

/** The recent cost of each key. A cost halves every minute. At most 20,000 keys are remembered. */
export class Loads {
  /** The key whose cost changed longest ago comes first. */
  readonly #loads = new Map<string, Load>();
  readonly #now: Clock;

  constructor(now: Clock) {
    this.#now = now;
  }

  /** The cost of a key; 0 if it is not remembered. */
  of(key: string): number {
    const load = this.#loads.get(key);
    if (!load) return 0;
    const age = Math.max(0, this.#now() - load.at); // a clock may be set back
    const amount = load.amount * 2 ** (-age / HALF_LIFE_MS);
    return amount < LEAST ? 0 : amount;
  }

  /** Adds to the cost of a key; a negative amount reduces it, down to 0. */
  add(key: string, cost: number): void {
    const amount = Math.max(0, this.of(key) + cost);
    setNewest(this.#loads, key, { amount, at: this.#now() }, MAX_LOADS);
  }
}
