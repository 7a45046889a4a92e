import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRemains, recordCuts, sightsOf, type Scenario } from "../support/cut-points.ts";
import { ForgetfulFiles } from "../support/forgetful-files.ts";
import {
  expiringActivity,
  expiringAudit,
  foldingFleet,
  wholeService,
  writtenAudit,
} from "./stores-work.ts";

async function checkEvery<S>(scenario: Scenario<S>): Promise<number> {
  const sights = await sightsOf(scenario);
  const all = await recordCuts(scenario, new ForgetfulFiles(), "every change");
  for (const [at, remains] of all.entries()) {
    await checkRemains(scenario, sights, remains, at % 8 === 0);
  }
  return all.length;
}

test("all answered changes survive a power cut and a kill between any two steps", async () => {
  const count = await checkEvery(wholeService);
  assert.ok(count > 200);
});

test("the same while a fleet's log is folded into its snapshot", async () => {
  const count = await checkEvery(foldingFleet);
  assert.ok(count > 50);
});

test("the same while segments of an audit log pass retention", async () => {
  const count = await checkEvery(expiringAudit);
  assert.ok(count > 50);
});

test("the same while files of an activity log pass retention", async () => {
  const count = await checkEvery(expiringActivity);
  assert.ok(count > 15);
});

test("events that are answered after the write survive a kill, and once synced a power cut", async () => {
  const count = await checkEvery(writtenAudit);
  assert.ok(count > 50);
});
