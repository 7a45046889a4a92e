import assert from "node:assert/strict";
import { test } from "node:test";
import { runtimeIdOf } from "../../src/fleet/identity.ts";

test("a runtime's id is the same every time", () => {
  assert.equal(runtimeIdOf("default", "ci-7"), runtimeIdOf("default", "ci-7"));
  assert.match(runtimeIdOf("default", "ci-7"), /^rt_[\da-f]{32}$/);
});

test("another name, or another organization, has another id", () => {
  const ids = [
    runtimeIdOf("default", "ci-7"),
    runtimeIdOf("default", "ci-8"),
    runtimeIdOf("default", "CI-7"),
    runtimeIdOf("acme", "ci-7"),
    runtimeIdOf("acm", "e\nci-7"),
  ];
  assert.equal(new Set(ids).size, ids.length);
});
