import { DAY_MS, MINUTE_MS } from "../core/clock.ts";
import type { RuntimeStatus } from "./schema.ts";

/** A runtime that has been silent for this long is no longer online. */
export const ONLINE_MS = 15 * MINUTE_MS;

/** A runtime that has been silent for this long is offline. */
export const IDLE_MS = DAY_MS;

/**
 * Derives a runtime's status from the time since it was last seen.
 *
 * @param silence the time in milliseconds; negative if a clock ran backwards
 * @returns `online` under 15 minutes, `idle` under 24 hours, otherwise `offline`
 */
export function statusAfter(silence: number): RuntimeStatus {
  if (silence < ONLINE_MS) return "online";
  return silence < IDLE_MS ? "idle" : "offline";
}
