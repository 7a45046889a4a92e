import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, LEAST_COMMANDS } from "../../src/rollouts/gates.ts";
import type { RolloutStage, StageFigures } from "../../src/rollouts/schema.ts";
import { rolloutOf } from "./store-suite.ts";

const T0 = Date.parse(rolloutOf("r1").observed_from);
const MINUTE = 60_000;
const WELL: StageFigures = {
  ...{ assigned: 10, fetched: 10, reporting: 10, silent: 0 },
  before: { commands: 1_000, denied: 20 },
  after: { commands: 100, denied: 2 },
};

function judged(stage: RolloutStage, figures: Partial<StageFigures> = {}, minutes = 60) {
  const rollout = rolloutOf("r1", { stages: [{ percent: 5, ...stage }] });
  return judge(rollout, { ...WELL, ...figures }, T0 + minutes * MINUTE);
}

for (const [name, stage, figures, minutes, outcome, reason] of [
  ["a hold that is over passes", { hold_minutes: 60 }, {}, 60, "passed", undefined],
  [
    "a hold waits to its last minute",
    { hold_minutes: 60 },
    {},
    59,
    "waiting",
    /until 2026-11-20T21:30/,
  ],
  [
    "a stage without gates and hold waits for a person",
    {},
    {},
    999,
    "waiting",
    /A person advances/,
  ],
  ["empty gates are no gates", { gates: {} }, {}, 999, "waiting", /A person advances/],
  ["enough runtimes pass", { gates: { min_runtimes: 10 } }, {}, 0, "passed", undefined],
  [
    "one runtime too few waits",
    { gates: { min_runtimes: 10 } },
    { reporting: 9 },
    9_999,
    "waiting",
    /^9 of at least 10 runtimes report the version$/,
  ],
  [
    "a stage that is too small for its gate says so",
    { gates: { min_runtimes: 11 } },
    {},
    0,
    "waiting",
    /, and the stage selects only 10$/,
  ],
  [
    "silence never passes a hold",
    { hold_minutes: 1 },
    { reporting: 0 },
    9_999,
    "waiting",
    /^0 of at least 1 runtime report/,
  ],
  [
    "a stage that selects nobody waits",
    { hold_minutes: 1 },
    { assigned: 0, reporting: 0 },
    9_999,
    "waiting",
    /^No runtime of the fleet is selected$/,
  ],
  [
    "a share of denials at the limit passes",
    { gates: { max_denied_increase_percent: 5 } },
    { after: { commands: 100, denied: 7 } },
    0,
    "passed",
    undefined,
  ],
  [
    "a share of denials above the limit is a breach",
    { gates: { max_denied_increase_percent: 5 } },
    { after: { commands: 100, denied: 8 } },
    0,
    "breached",
    /^8% of 100 commands were denied, 2% before: expected at most 5 points more$/,
  ],
  [
    "fewer denials than before pass",
    { gates: { max_denied_increase_percent: 0 } },
    { after: { commands: 100, denied: 0 } },
    0,
    "passed",
    undefined,
  ],
  [
    "too few commands wait, however many were denied",
    { gates: { max_denied_increase_percent: 5 } },
    { after: { commands: LEAST_COMMANDS - 1, denied: LEAST_COMMANDS - 1 } },
    9_999,
    "waiting",
    /^9 of at least 10 commands/,
  ],
  [
    "without commands before, any denial counts",
    { gates: { max_denied_increase_percent: 5 } },
    { before: { commands: 0, denied: 0 }, after: { commands: 10, denied: 1 } },
    0,
    "breached",
    /^10% of 10 commands were denied, 0% before/,
  ],
  [
    "no figures since the start wait",
    { gates: { max_denied_increase_percent: 5 } },
    { after: undefined },
    9_999,
    "waiting",
    /^0 of at least 10 commands/,
  ],
  ["nobody silent passes", { gates: { max_offline: 0 } }, {}, 15, "passed", undefined],
  [
    "silence needs 15 minutes to show",
    { gates: { max_offline: 0 } },
    {},
    14,
    "waiting",
    /^Silence shows after 15 minutes, at 2026-11-20T20:45/,
  ],
  [
    "one silent runtime too many is a breach, even during the hold",
    { hold_minutes: 60, gates: { max_offline: 1 } },
    { silent: 2 },
    20,
    "breached",
    /^2 runtimes with the version have been silent/,
  ],
  [
    "as many silent runtimes as allowed pass",
    { gates: { max_offline: 2 } },
    { silent: 2 },
    20,
    "passed",
    undefined,
  ],
  ["a clock that was set back waits", { hold_minutes: 1 }, {}, -60, "waiting", /at least until/],
] as const satisfies readonly (readonly [
  string,
  RolloutStage,
  Partial<StageFigures>,
  number,
  string,
  RegExp | undefined,
])[]) {
  test(name, () => {
    const judgement = judged(stage, figures, minutes);
    assert.equal(judgement.outcome, outcome, judgement.reasons.join("; "));
    assert.equal(judgement.reasons.length, reason ? 1 : 0, judgement.reasons.join("; "));
    if (reason) assert.match(judgement.reasons[0] ?? "", reason);
  });
}

test("a judgement says whether the stage ends by itself", () => {
  assert.equal(judged({}).by_itself, false);
  assert.equal(judged({ hold_minutes: 0 }).by_itself, true);
});
