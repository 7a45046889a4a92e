/**
 * Node's timers, read when this module is loaded. A test that embeds the service may replace the globals
 * by fake timers (vitest, jest, `node:test`): writes and `close` would then wait for ever. A lint rule
 * keeps all other modules from using the globals.
 */
import type { Stopwatch } from "./clock.ts";

export const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = globalThis;

/** Milliseconds, with fractions, since the process began. */
export const systemStopwatch: Stopwatch = performance.now.bind(performance);

/** Waits for some milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** Waits for the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
