import assert from "node:assert/strict";
import { test } from "node:test";
import { TooMany } from "../../src/core/errors.ts";
import { cappedFleet, cappedPolicies } from "../../src/demo/capped-stores.ts";
import { nextReset } from "../../src/demo/limits.ts";
import { draftPolicy } from "../../src/policies/draft.ts";
import { MemoryFleet } from "./memory-fleet.ts";
import { MemoryPolicies } from "../policies/memory-policies.ts";

const refusal = (message: string): TooMany => new TooMany(message, 60);

test("a full store of policies refuses another version, and still activates", async () => {
  const policies = cappedPolicies(new MemoryPolicies(), 2, refusal);
  const publish = (version: string) =>
    policies.publish("default", draftPolicy({ version, yaml: "a: 1" }, 0, undefined));
  const settled = await Promise.allSettled([publish("v1"), publish("v2"), publish("v3")]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected"],
  );
  await assert.rejects(publish("v4"), TooMany);
  assert.equal(
    (await policies.activate("default", "v1", "2026-01-01T00:00:00Z", "x"))?.version,
    "v1",
  );
});

test("a full fleet refuses a new runtime, hears the known ones, and has room for one forgotten", async () => {
  const inner = new MemoryFleet();
  await inner.beat("default", "early");
  const fleet = cappedFleet(inner, 2, refusal);
  const beat = (organization: string, name: string) =>
    new Promise<unknown>((resolve) => fleet.heartbeat(organization, { name }, 0, resolve));
  const errors = await Promise.all(["a", "b", "early", "a"].map((name) => beat("default", name)));
  assert.deepEqual(
    errors.map((error) => error instanceof TooMany),
    [false, true, false, false],
  );
  assert.ok(!((await beat("other", "b")) instanceof TooMany));
  assert.ok(await fleet.forget("default", "early"));
  assert.ok(!((await beat("default", "b")) instanceof TooMany));
});

test("a demo is reset at four in the morning, UTC, the next time that it is four", () => {
  const at = (time: string): string => new Date(nextReset(Date.parse(time))).toISOString();
  assert.equal(at("2026-11-20T03:59:59.999Z"), "2026-11-20T04:00:00.000Z");
  assert.equal(at("2026-11-20T04:00:00.000Z"), "2026-11-21T04:00:00.000Z");
  assert.equal(at("2026-12-31T20:30:00.000Z"), "2027-01-01T04:00:00.000Z");
});
