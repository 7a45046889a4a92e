import { DAY_MS, type Clock } from "../core/clock.ts";
import { describeError, type Log } from "../core/log.ts";
import type { FleetStore } from "./store.ts";

/** What forgetting works with. */
export interface ForgettingParts {
  readonly fleet: Pick<FleetStore, "forgetSilent">;
  /** 0 forgets none. */
  readonly days: number;
  readonly now: Clock;
  readonly log: Log;
}

/** Forgets the runtimes that have not reported for so many days, and logs how many. */
export async function forgetSilentRuntimes(parts: ForgettingParts): Promise<void> {
  const { fleet, days, now, log } = parts;
  if (days === 0) return;
  try {
    for (const forgotten of await fleet.forgetSilent(now() - days * DAY_MS)) {
      log.info("forgot runtimes that no longer report", { ...forgotten });
    }
  } catch (error) {
    log.error("silent runtimes could not be forgotten", { error: describeError(error) });
  }
}
