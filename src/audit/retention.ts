import { DAY_MS, HOUR_MS, type Clock } from "../core/clock.ts";
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
  try {
    for (const removed of await audit.retain(undefined, now() - days * DAY_MS)) {
      if (removed.segments > 0)
        log.info("removed audit events that are past retention", { ...removed });
    }
  } catch (error) {
    log.error("audit retention failed", { error: describeError(error) });
  }
}

/**
 * Removes what is past retention now, and every hour.
 *
 * @returns what ends it, once a removal under way is done
 */
export function startRetention(parts: RetentionParts): () => Promise<void> {
  if (parts.days === 0) return async () => {};
  let running = removeExpired(parts);
  const sweep = (): void => {
    running = running.then(() => removeExpired(parts));
  };
  const timer = setInterval(sweep, HOUR_MS).unref();
  return () => {
    clearInterval(timer);
    return running;
  };
}
