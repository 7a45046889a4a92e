import assert from "node:assert/strict";
import { test } from "node:test";
import { statusFrom } from "../../src/providers/status.ts";

const cases = [
  [0, 0, "offline"],
  [1, 0, "connected"],
  [1, 1, "connected"],
  [4, 4, "connected"],
  [5, 2, "connected"],
  [5, 3, "degraded"],
  [6, 2, "connected"],
  [6, 3, "degraded"],
  [1_000, 499, "connected"],
  [1_000, 500, "degraded"],
] as const;

for (const [events, failed, status] of cases) {
  test(`${failed} of ${events} events failed: ${status}`, () => {
    assert.equal(statusFrom({ events, failed, lastUsed: 0 }), status);
  });
}

test("a provider that was never used is offline", () => {
  assert.equal(statusFrom(undefined), "offline");
});
