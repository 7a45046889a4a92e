import assert from "node:assert/strict";
import { test } from "node:test";
import { demoSettings, nextReset } from "../../src/demo/limits.ts";

test("a demo is reset at the next 04:00 UTC", () => {
  const at = (time: string): string => new Date(nextReset(Date.parse(time))).toISOString();
  assert.equal(at("2026-11-20T03:59:59.999Z"), "2026-11-20T04:00:00.000Z");
  assert.equal(at("2026-11-20T04:00:00.000Z"), "2026-11-21T04:00:00.000Z");
  assert.equal(at("2026-12-31T20:30:00.000Z"), "2027-01-01T04:00:00.000Z");
});

test("a demo has its own limits, or the deployment's if they are smaller", () => {
  const limits = {
    maxBodyBytes: 65_536,
    auditSegmentBytes: 4_194_304,
    maxPolicyVersions: 100,
    maxRuntimes: 1_000,
  };
  const larger = {
    maxBodyBytes: 65_537,
    auditSegmentBytes: 4_194_305,
    maxPolicyVersions: 101,
    maxRuntimes: 1_001,
  };
  assert.deepEqual(demoSettings(larger), limits);
  const smaller = { maxBodyBytes: 1, auditSegmentBytes: 2, maxPolicyVersions: 3, maxRuntimes: 4 };
  assert.deepEqual(demoSettings(smaller), smaller);
});
