import assert from "node:assert/strict";
import { test } from "node:test";
import { isDrifted } from "../../src/fleet/drift.ts";

test("a runtime has drifted if it is not offline and reports a version other than the active one", () => {
  const status = "online" as const;
  assert.equal(isDrifted({ status, policy_version: "v1" }, "v2"), true);
  assert.equal(isDrifted({ status: "idle", policy_version: "v1" }, "v2"), true);
  assert.equal(isDrifted({ status: "offline", policy_version: "v1" }, "v2"), false);
  assert.equal(isDrifted({ status, policy_version: "v2" }, "v2"), false);
  assert.equal(isDrifted({ status }, "v2"), false);
  assert.equal(isDrifted({ status, policy_version: "v1" }, ""), false);
});
