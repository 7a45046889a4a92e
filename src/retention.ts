import type { Config } from "./config.ts";
import { DAY_MS, type Clock } from "./core/clock.ts";
import { describeError, type Log } from "./core/log.ts";
import type { Stores } from "./engine.ts";

interface RetentionParts {
  readonly config: Pick<Config, "auditRetentionDays" | "activityRetentionDays" | "fleetForgetDays">;
  readonly now: Clock;
  readonly log: Log;
}

/** Removes data that is older than the settings allow. A failure is logged and does not stop the next task. */
export async function removeOld(
  { config, now, log }: RetentionParts,
  {
    audit,
    activity,
    fleet,
  }: {
    readonly audit: Pick<Stores["audit"], "retain">;
    readonly activity: Pick<Stores["activity"], "retain">;
    readonly fleet: Pick<Stores["fleet"], "forgetSilent">;
  },
): Promise<void> {
  const removeBefore = async (
    days: number, // 0 keeps everything
    failure: string,
    remove: (before: number) => Promise<void>,
  ): Promise<void> => {
    if (days === 0) return;
    await remove(now() - days * DAY_MS).catch((error: unknown) =>
      log.error(failure, { error: describeError(error) }),
    );
  };
  await removeBefore(config.auditRetentionDays, "audit retention failed", async (before) => {
    for (const removed of await audit.retain(undefined, before)) {
      log.info("removed audit events that are past retention", { ...removed });
    }
  });
  await removeBefore(config.activityRetentionDays, "activity retention failed", (before) =>
    activity.retain(before),
  );
  await removeBefore(config.fleetForgetDays, "fleet retention failed", async (before) => {
    for (const forgotten of await fleet.forgetSilent(before)) {
      log.info("forgot runtimes that no longer report", { ...forgotten });
    }
  });
}
