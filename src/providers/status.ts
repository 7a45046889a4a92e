import type { ProviderActivity } from "../audit/store.ts";
import type { ProviderStatus } from "./schema.ts";

/** Fewer events than this are too few to call a provider degraded. */
const MIN_EVENTS = 5;

/**
 * Derives a provider's status from the organization's events of the last 24 hours.
 *
 * @param activity `undefined` if no event ever named the provider
 * @returns `offline` without events, `degraded` if there are at least 5 and half or more of them
 *   were denied or failed, otherwise `connected`
 */
export function statusFrom(activity: ProviderActivity | undefined): ProviderStatus {
  if (activity === undefined || activity.events === 0) return "offline";
  const { events, failed } = activity;
  return events >= MIN_EVENTS && failed * 2 >= events ? "degraded" : "connected";
}
