/**
 * The runtime's timers as they were when this module was loaded. A test that embeds the service may put
 * fake ones in place of the globals (vitest, jest, `node:test`): writes and `close` would then wait for
 * a moment that never comes. No other module names the globals; a lint rule sees to that.
 */
import type { Stopwatch } from "./clock.ts";

export const {
  clearImmediate,
  clearInterval,
  clearTimeout,
  setImmediate,
  setInterval,
  setTimeout,
} = globalThis;

/** Milliseconds, with fractions, since the process began. */
export const systemStopwatch: Stopwatch = performance.now.bind(performance);

/** Waits until the event loop has served others. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
