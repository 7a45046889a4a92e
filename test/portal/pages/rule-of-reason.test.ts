import assert from "node:assert/strict";
import { test } from "node:test";
import { countRules, ruleOfReason } from "../../../src/portal/pages/rule-of-reason.ts";

const RULES = [
  { id: "no-push", reason: "Pipelines push" },
  { id: "no-push-2", reason: "Shared" },
  { id: "third", reason: "Shared" },
  { id: "id with: colon" },
];
const count = (value: string, events: number) => ({ value, events });

test("a reason names a rule by its own reason or in the form of the guard", () => {
  assert.equal(ruleOfReason(RULES, "Pipelines push"), "no-push");
  assert.equal(ruleOfReason(RULES, "rule no-push: Pipelines push"), "no-push");
  assert.equal(ruleOfReason(RULES, "rule no-push-2"), "no-push-2");
  assert.equal(ruleOfReason(RULES, "rule id with: colon: why"), "id with: colon");
  assert.equal(ruleOfReason(RULES, "Shared"), undefined);
  assert.equal(ruleOfReason(RULES, ""), undefined);
});

test("events are counted by the rules that their reasons name, the most first", () => {
  const counts = countRules(
    [
      count("Pipelines push", 5),
      count("rule gone: Removed since", 7),
      count("Shared", 9), // names no single rule
      count("rule no-push: Pipelines push", 3),
      count("rule of thumb", 1), // names none
    ],
    [RULES],
  );
  assert.deepEqual(counts, [
    { id: "no-push", reason: "Pipelines push", events: 8 },
    { id: "gone", reason: "rule gone: Removed since", events: 7 },
  ]);
});

test("an earlier version names the rule of a reason that the later ones do not give", () => {
  const old = [
    { id: "no-push", reason: "People do not push" },
    { id: "other", reason: "Pipelines push" },
  ];
  const counts = countRules(
    [count("People do not push", 2), count("Pipelines push", 1)],
    [RULES, old],
  );
  assert.deepEqual(counts, [
    { id: "no-push", reason: "People do not push", events: 2 },
    { id: "no-push", reason: "Pipelines push", events: 1 }, // with nothing in common
  ]);
});

test("the filter of a rule finds every counted event, and none of a rule with a longer id", () => {
  const [both] = countRules([count("rule a: One", 2), count("rule a: Two", 1)], []);
  assert.deepEqual(both, { id: "a", reason: "rule a:", events: 3 });
  const beginning = [
    { id: "a", reason: "Ask the team" },
    { id: "b", reason: "Ask the lead" },
  ];
  const old = [{ id: "a", reason: "Ask the team first; page it at night" }];
  const counts = countRules(
    [
      count("Ask the team", 5),
      count("Ask the team first; page it at night", 3),
      count("Ask the lead", 1),
    ],
    [beginning, old],
  );
  assert.deepEqual(counts, [
    { id: "a", reason: "Ask the team", events: 8 },
    { id: "b", reason: "Ask the lead", events: 1 },
  ]);
  const reworded = countRules(
    [count("Agents wait", 2), count("Agents wait; ask", 1)],
    [[{ id: "c", reason: "Agents wait" }], [{ id: "c", reason: "Agents wait; ask" }]],
  );
  assert.deepEqual(reworded, [{ id: "c", reason: "Agents wait", events: 3 }]);
  const apart = countRules(
    [count("Agents stop; read", 2), count("Agents stop. Ask", 1)],
    [[{ id: "d", reason: "Agents stop; read" }], [{ id: "d", reason: "Agents stop. Ask" }]],
  );
  assert.deepEqual(apart, [{ id: "d", reason: "Agents stop", events: 3 }]);
});
