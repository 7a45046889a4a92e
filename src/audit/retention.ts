import { DAY_MS, type Clock } from "../core/clock.ts";
import { describeError, type Log } from "../core/log.ts";
import type { AuditStore } from "./store.ts";

export interface RetentionParts {
  readonly audit: Pick<AuditStore, "retain">;
  /** 0 keeps everything. */
  readonly days: number;
  readonly now: Clock;
  readonly log: Log;
}

/** Removes what is older than the retention, and logs what that was, organization by organization. */
export async function removeExpired({ audit, days, now, log }: RetentionParts): Promise<void> {
  if (days === 0) return;
  try {
    for (const removed of await audit.retain(undefined, now() - days * DAY_MS)) {
      if (removed.segments > 0)
        log.info("removed audit events that are past retention", { ...removed });
    }
  } catch (error) {
    log.error("audit retention failed", { error: describeError(error) });
  }
}
