import assert from "node:assert/strict";
import { test } from "node:test";
import { examine } from "../../src/policies/examine.ts";
import { StepBudget } from "../../src/policies/step-budget.ts";
import type { RecordedRow } from "../../src/replay/recorded-row.ts";
import { Tally } from "../../src/replay/tally.ts";

test("examples repeat no long text of the document", () => {
  const text = "x".repeat(10_000);
  const rule = {
    ...{ id: text, effect: "deny", reason: text },
    match: { commands: [{ exact: "git push" }] },
  };
  const yaml = JSON.stringify({ schema: "signalbox/policy/v1", default: "allow", rules: [rule] });
  const { document: candidate } = examine({ yaml, command: { command: "" } });
  assert.ok(candidate);
  const tally = new Tally({ candidate, base: undefined, examples: 1 }, new StepBudget(Infinity));
  tally.add({ id: "e", command: "git push", policy_decision: "ALLOWED" } as RecordedRow);
  const [example] = tally.counts().examples;
  assert.deepEqual([example?.rule?.length, example?.reason?.length], [1_001, 1_001]);
});
