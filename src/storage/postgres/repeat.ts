import type { Awaitable } from "../../core/caller.ts";
import { pause } from "../../core/timers.ts";
import { isToRepeat } from "./faults.ts";

const ATTEMPTS = 6;
const PAUSE_MS = 10;

/**
 * Does work, and repeats it a few times if the database ended it because of a deadlock or a conflict with another
 * transaction. The work must not have other effects.
 *
 * @param isAgain decides whether a failure can be repeated
 */
export async function repeatedly<T>(
  work: () => Promise<T>,
  isAgain: (error: unknown) => Awaitable<boolean> = isToRepeat,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !(await isAgain(error))) throw error;
      await pause(PAUSE_MS * attempt * (1 + Math.random())); // random, so that competing transactions do not repeat in step
    }
  }
}
