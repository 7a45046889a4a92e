import assert from "node:assert/strict";
import { test } from "node:test";
import { Conflict } from "../../src/core/errors.ts";
import type { Rollout } from "../../src/rollouts/schema.ts";
import { openRolloutOf, stepped, type Step } from "../../src/rollouts/state.ts";
import { rolloutOf } from "./store-suite.ts";

const LATER = { by: "eve@example.com", at: "2026-11-20T21:00:00.000Z" };
const paused = stepped(rolloutOf("r1"), { kind: "pause" }, LATER);

for (const [from, step, to] of [
  [rolloutOf("r1"), { kind: "advance" }, "running"],
  [rolloutOf("r1"), { kind: "pass", stage: 1 }, "running"],
  [rolloutOf("r1", { current_stage: 2 }), { kind: "advance" }, "completed"],
  [rolloutOf("r1", { current_stage: 2 }), { kind: "pass", stage: 2 }, "completed"],
  [rolloutOf("r1"), { kind: "pause" }, "paused"],
  [rolloutOf("r1"), { kind: "breach", stage: 1, reason: "bad" }, "paused"],
  [
    rolloutOf("r1", { on_breach: "roll_back" }),
    { kind: "breach", stage: 1, reason: "bad" },
    "rolled_back",
  ],
  [rolloutOf("r1"), { kind: "roll_back" }, "rolled_back"],
  [rolloutOf("r1"), { kind: "activated", version: "v2" }, "completed"],
  [rolloutOf("r1"), { kind: "activated", version: "v3" }, "superseded"],
  [paused, { kind: "resume" }, "running"],
  [paused, { kind: "roll_back" }, "rolled_back"],
  [paused, { kind: "activated", version: "v3" }, "superseded"],
] as const satisfies readonly (readonly [Rollout, Step, string])[]) {
  test(`${from.state} in stage ${from.current_stage}, ${step.kind}, on breach ${from.on_breach}: ${to}`, () => {
    const next = stepped(from, step, LATER);
    assert.equal(next.state, to);
    assert.deepEqual([next.updated_by, next.updated_at], [LATER.by, LATER.at]);
    assert.equal(openRolloutOf(next) !== undefined, to === "running" || to === "paused");
  });
}

for (const [from, step, message] of [
  [paused, { kind: "advance" }, 'The rollout of "v2" is paused: resume it first'],
  [paused, { kind: "pause" }, 'The rollout of "v2" is paused'],
  [rolloutOf("r1"), { kind: "resume" }, 'The rollout of "v2" is running'],
  [rolloutOf("r1"), { kind: "advance", stage: 2 }, "stage: 2 is not the current stage, expected 1"],
  [
    stepped(rolloutOf("r1"), { kind: "roll_back" }, LATER),
    { kind: "roll_back" },
    'The rollout of "v2" is rolled back',
  ],
] as const satisfies readonly (readonly [Rollout, Step, string])[]) {
  test(`refused: ${message}`, () => {
    assert.throws(
      () => stepped(from, step, LATER),
      (error) => {
        assert.ok(error instanceof Conflict);
        assert.equal(error.message, message);
        return true;
      },
    );
  });
}

test("a stage that starts is observed from then on, and the one that ends keeps its figures", () => {
  const none = { commands: 0, denied: 0 };
  const figures = { assigned: 1, fetched: 1, reporting: 1, silent: 0, before: none, after: none };
  const next = stepped(rolloutOf("r1"), { kind: "advance" }, { ...LATER, figures });
  assert.deepEqual(next.stages, [
    { ...rolloutOf("r1").stages[0], ended_at: LATER.at, figures },
    { percent: 100, started_at: LATER.at },
  ]);
  assert.equal(next.observed_from, LATER.at);
});

test("a resumed stage is observed anew, and the reason of the pause is gone", () => {
  const breach = { kind: "breach", stage: 1, reason: "too many" } as const;
  const stopped = stepped(rolloutOf("r1"), breach, { ...LATER, by: "gate" });
  assert.deepEqual([stopped.reason, stopped.updated_by], ["too many", "gate"]);
  const next = stepped(stopped, { kind: "resume" }, LATER);
  assert.deepEqual([next.reason, next.observed_from], [undefined, LATER.at]);
});
