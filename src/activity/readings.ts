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

  /** Counts an export, unless the entries of this hour are used up. */
  take(actor: string): Recorded {
    const now = this.#now();
    if (now >= this.#end || now < this.#end - HOUR_MS) {
      this.#end = now + HOUR_MS;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(actor) ?? 0) + 1;
    if (count > READINGS_AN_HOUR) return false;
    this.#counts.set(actor, count);
    return count < READINGS_AN_HOUR || { unrecorded_until: formatTimestamp(this.#end) };
  }

  /** Takes back the count of an export whose entry could not be written: otherwise later ones would go without any entry. */
  giveBack(actor: string): void {
    const count = this.#counts.get(actor) ?? 0;
    if (count > 0) this.#counts.set(actor, count - 1);
  }
}
