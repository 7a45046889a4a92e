import { DAY_MS, type Clock } from "../core/clock.ts";
import { describeError, type Log } from "../core/log.ts";
import type { ActivityStore } from "./store.ts";

/** What the retention of activity entries works with. */
export interface ActivityRetention {
  readonly activity: Pick<ActivityStore, "retain">;
  /** 0 keeps entries of any age. */
  readonly days: number;
  readonly now: Clock;
  readonly log: Log;
}

/** Removes activity entries that are past retention; the newest of each organization stay. */
export async function removeExpiredEntries(parts: ActivityRetention): Promise<void> {
  const { activity, days, now, log } = parts;
  if (days === 0) return;
  try {
    await activity.retain(now() - days * DAY_MS);
  } catch (error) {
    log.error("activity retention failed", { error: describeError(error) });
  }
}
