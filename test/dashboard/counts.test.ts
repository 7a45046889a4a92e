import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditActivity } from "../../src/audit/store.ts";
import { dashboardCounts } from "../../src/dashboard/counts.ts";

function activityOf(byProvider: AuditActivity["byProvider"]): AuditActivity {
  return { commands: 9, allowed: 5, denied: 3, wouldBeDenied: 2, ai: 2, byProvider };
}

const CATALOG = { capabilities: 200, providers: 25 };
const FLEET = { online: 4, idle: 2, drifted: 3, total: 7 };

test("the counts are combined under their names", () => {
  assert.deepEqual(dashboardCounts(activityOf([["git", 9]]), CATALOG, FLEET, "v1"), {
    commands_today: 9,
    allowed_today: 5,
    denied_today: 3,
    would_be_denied_today: 2,
    ai_operations: 2,
    ai_commands_today: 2,
    by_provider: { git: 9 },
    capabilities: 200,
    providers: 25,
    policy_version: "v1",
    runtimes_online: 4,
    runtimes_total: 7,
    runtimes_drifted: 3,
  });
});

test("hostile provider names are ordinary names", () => {
  const names = [["toString", 3] as const, ["constructor", 2] as const, ["__proto__", 1] as const];
  const { by_provider } = dashboardCounts(activityOf(names), CATALOG, FLEET, "");
  assert.equal(JSON.stringify(by_provider), '{"toString":3,"constructor":2,"__proto__":1}');
});
