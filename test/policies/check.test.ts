import assert from "node:assert/strict";
import { test } from "node:test";
import { examineInThread } from "../../src/policies/check-thread.ts";
import { checkDocument, requireValid, simulateDocument } from "../../src/policies/check.ts";

const flatMap = Array.from({ length: 25_000 }, (_, i) => `key${i}: value${i}`).join("\n");
const large = `schema: signalbox/policy/v1
rules:
  - {id: r, effect: allow, match: {commands: [{prefix: git}]}}
# ${"x".repeat(20_000)}
`;

test("a flat mapping of 400 KiB is valid, and the event loop turns while it is checked", async (t) => {
  assert.ok(flatMap.length > 400 * 1024);
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  t.after(() => clearInterval(turning));
  assert.deepEqual((await checkDocument("acme", flatMap)).problems, []);
  assert.ok(turns > 3);
});

test("a large document is examined in a thread just as a small one is here", async () => {
  const { problems, document } = await checkDocument("acme", large);
  assert.deepEqual(problems, []);
  assert.equal(document?.rules[0]?.id, "r");
  const { verdict } = await simulateDocument("acme", large, { command: "git status" });
  assert.deepEqual(verdict, { decision: "ALLOWED", rule: "r", reason: null });
  assert.equal((await checkDocument("acme", `${large}a: ]`)).problems[0]?.line, 5);
});

test("a document whose check takes too long is refused, and so is what it would do", async () => {
  const { problems, document } = await examineInThread({ yaml: flatMap, command: undefined }, 1);
  assert.deepEqual(problems, [
    { message: "The document takes longer than 0.001 s to check", line: 1, column: 1 },
  ]);
  assert.equal(document, undefined);
});

test("more large documents than there are threads are all checked", async () => {
  const checks = Array.from({ length: 4 }, () =>
    checkDocument("acme", `a: "${"x".repeat(10_000)}`),
  );
  for (const { problems } of await Promise.all(checks)) assert.equal(problems.length, 1);
});

test("a refusal names line and column of the first problem, and how many more there are", async () => {
  await assert.rejects(requireValid("acme", "a: 1\na: 2"), {
    status: 400,
    message: 'yaml, line 2, column 1: Duplicate key "a"',
  });
  await assert.rejects(
    requireValid("acme", "a: 1\na: 2\na: 3"),
    /Duplicate key "a" \(and 1 more\)$/,
  );
  await requireValid("acme", "a: 1");
});
