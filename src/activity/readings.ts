import { HOUR_MS, type Clock } from "../core/clock.ts";
import { formatTimestamp } from "../core/time.ts";

/** The exports and tickets of one user or key that have an entry in an hour. */
export const READINGS_AN_HOUR = 60;

/** Whether an export has an entry; the last one of an hour says until when there are no more. */
type Recorded = boolean | { readonly unrecorded_until: string };

/**
 * Counts the entries of exports by user and key. The oldest entries are removed when the log is full, so a key that may
 * only read could remove the record of all changes: within minutes, by exports whose filters are long.
 */
export class Readings {
  readonly #now: Clock;
  #end = -Infinity;
  #counts = new Map<string, number>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Counts an export. */
  take(actor: string): Recorded {
    const now = this.#now();
    if (now >= this.#end || now < this.#end - HOUR_MS) {
      this.#end = now + HOUR_MS;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(actor) ?? 0) + 1;
    this.#counts.set(actor, count);
    if (count !== READINGS_AN_HOUR) return count < READINGS_AN_HOUR;
    return { unrecorded_until: formatTimestamp(this.#end) };
  }
}
