import { HOUR_MS } from "./clock.ts";
import { clearInterval, setInterval } from "./timers.ts";

/**
 * Runs a task now and every hour, never two at a time. The task handles its own failures.
 *
 * @returns what ends it; resolves when a run under way is done
 */
export function hourly(task: () => Promise<void>): () => Promise<void> {
  let running = task();
  const timer = setInterval(() => {
    running = running.then(task);
  }, HOUR_MS).unref();
  return () => {
    clearInterval(timer);
    return running;
  };
}
