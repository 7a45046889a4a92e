/**
 * Reads of long events for streams, and over PostgreSQL also for exports and long pages. One event may be some MiB long: a
 * hundred streams that continued before such events had all of them in memory, each in bytes of its own. So a long read has
 * its turn until its reader has taken it, or for the second in which the unread bytes of answers are counted. Those that
 * wait are no more than the readers. Short reads have turns of their own, so that they do not wait for readers.
 */
import { SECOND_MS } from "../core/clock.ts";
import { clearTimeout, setTimeout } from "../core/timers.ts";
import { COSTLY_WORK, type TurnLimits } from "../core/scheduling/turns.ts";

/** A read of more bytes is long. */
export const LONG_READ_BYTES = 64 << 10;

/** The limits of the long reads that are not taken. */
export const LONG_READS: TurnLimits = { ...COSTLY_WORK, waiting: Infinity, areShort: true };

/** Ends a turn by itself after a second; the result ends it at once. */
export function withinASecond(end: () => void): () => void {
  const late = setTimeout(end, SECOND_MS).unref();
  return () => {
    clearTimeout(late);
    end();
  };
}
