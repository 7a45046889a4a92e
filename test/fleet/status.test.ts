import assert from "node:assert/strict";
import { test } from "node:test";
import { statusAfter } from "../../src/fleet/status.ts";

const MINUTES_15 = 15 * 60 * 1_000;
const HOURS_24 = 24 * 60 * 60 * 1_000;

const cases = [
  ["a clock that ran backwards", -1, "online"],
  ["just seen", 0, "online"],
  ["one millisecond under 15 minutes", MINUTES_15 - 1, "online"],
  ["15 minutes", MINUTES_15, "idle"],
  ["one millisecond under 24 hours", HOURS_24 - 1, "idle"],
  ["24 hours", HOURS_24, "offline"],
  ["a year", 365 * HOURS_24, "offline"],
] as const;

for (const [name, silence, status] of cases) {
  test(`a runtime is ${status} after a silence of ${silence} ms (${name})`, () => {
    assert.equal(statusAfter(silence), status);
  });
}
