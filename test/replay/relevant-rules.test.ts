import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rule } from "../../src/policies/rules.ts";
import { COMPARISON_STEPS, StepBudget } from "../../src/policies/step-budget.ts";
import { RelevantRules } from "../../src/replay/relevant-rules.ts";

const RULES = 10_000;

function rulesWith(match: (at: number) => Rule["match"]): Rule[] {
  return Array.from({ length: RULES }, (_, at) => ({
    ...{ id: `r${at}`, effect: "deny" as const, enabled: true },
    match: match(at),
  }));
}

/** The steps of one command. */
function stepsOf(relevant: RelevantRules, work: StepBudget): number {
  const before = work.spent;
  relevant.for({ command: "git push" });
  return work.spent - before;
}

test("the work on a command does not grow with the rules that look at no command", () => {
  const relevant = new RelevantRules(
    rulesWith((at) => ({ executors: [`x${at}`] })),
    new StepBudget(Infinity),
  );

  const { positions, results = "" } = relevant.for({ command: "git push" });

  assert.equal(positions, undefined);
  assert.ok(results.length < 100, `${results.length} characters are kept for the command`);
});

test("each rule of a pattern that matches counts as work", () => {
  const work = new StepBudget(Infinity);
  const relevant = new RelevantRules(
    rulesWith(() => ({ commands: [{ glob: "*push" }] })),
    work,
  );

  assert.ok(stepsOf(relevant, work) >= COMPARISON_STEPS * RULES);
});
