import assert from "node:assert/strict";
import { test } from "node:test";
import { gateWords } from "../../src/portal/rollout-words.ts";

test("the words of a stage's gates leave out a hold time of 0", () => {
  assert.deepEqual(gateWords({}), ["a person advances it"]);
  assert.deepEqual(gateWords({ hold_minutes: 1 }), ["it has run for 1 min"]);
  assert.deepEqual(gateWords({ hold_minutes: 0 }), ["1 runtime or more report it"]);
  assert.deepEqual(gateWords({ hold_minutes: 0, gates: { min_runtimes: 3, max_offline: 2 } }), [
    "3 runtimes or more report it",
    "at most 2 runtimes silent",
  ]);
});
