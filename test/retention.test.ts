import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../src/core/clock.ts";
import { createLog } from "../src/core/log.ts";
import { removeOld } from "../src/retention.ts";

/** Runs all tasks with these days, over stores of which the audit's fails. */
async function remove(audit: number, activity: number, fleet: number) {
  const asked: string[] = [];
  const lines: string[] = [];
  const ask = (store: string, before: number): void => {
    asked.push(`${store} ${before / DAY_MS}`);
  };
  const days = { auditRetentionDays: audit, activityRetentionDays: activity };
  const now = (): number => 1_000 * DAY_MS;
  await removeOld(
    {
      config: { ...days, fleetForgetDays: fleet },
      now,
      log: createLog("info", now, (line) => void lines.push(line)),
    },
    {
      audit: {
        retain: async (_: string | undefined, before: number) => {
          ask("audit", before);
          throw new Error("I/O error");
        },
      },
      activity: { retain: async (before: number) => ask("activity", before) },
      fleet: {
        forgetSilent: async (before: number) => {
          ask("fleet", before);
          return [{ organization: "acme", runtimes: 3 }];
        },
      },
    },
  );
  return { asked, log: lines.join("") };
}

test("a failure is logged and does not stop the next task", async () => {
  const { asked, log } = await remove(1, 2, 3);
  assert.deepEqual(asked, ["audit 999", "activity 998", "fleet 997"]);
  assert.match(log, /"level":"error".*"audit retention failed".*I\/O error/);
  assert.match(log, /"forgot runtimes that no longer report","organization":"acme","runtimes":3/);
});

test("0 days keep everything", async () => {
  assert.deepEqual(await remove(0, 0, 0), { asked: [], log: "" });
});
