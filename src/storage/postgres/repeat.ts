import type { Awaitable } from "../../core/caller.ts";
import { setTimeout } from "../../core/timers.ts";
import { isToRepeat } from "./faults.ts";

const ATTEMPTS = 6;
const PAUSE_MS = 10;

/**
 * Does work again, some times at most, that the database ended for a deadlock or a conflict with another
 * transaction. The work must have no other effect.
 *
 * @param isAgain decides whether a failure of the work is such a one
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
      const ms = PAUSE_MS * attempt * (1 + Math.random()); // not in step with the others
      await new Promise<void>((resolve) => void setTimeout(resolve, ms));
    }
  }
}
