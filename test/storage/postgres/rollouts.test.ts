import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownRollouts } from "../../../src/storage/postgres/rollouts.ts";
import { rolloutOf } from "../../rollouts/store-suite.ts";

test("of the open rollouts the oldest one is dropped for another organization's", () => {
  const known = new KnownRollouts();
  const opened = (organization: string, state: "running" | "paused" = "running") => {
    const document = JSON.stringify(rolloutOf("r1", { state }));
    return known.of(organization, { id: "r1", document });
  };
  const all = Array.from({ length: 1_000 }, (_, n) => opened(`o${n}`));
  opened("o999", "paused"); // a step, while as many rollouts are known as are kept
  assert.equal(opened("o0"), all[0]);
  opened("another");
  assert.equal(opened("o1"), all[1]);
  assert.notEqual(opened("o0"), all[0]);
});
