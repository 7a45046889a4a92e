import { HOUR_MS } from "./clock.ts";
import { clearInterval, setInterval } from "./timers.ts";

/**
 * Runs a task now and every hour; runs never overlap. The task handles its own failures.
 *
 * @returns stops the schedule; resolves when the current run is done
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
