import assert from "node:assert/strict";
import { test } from "node:test";
import { examineInThread } from "../../src/policies/check-thread.ts";
import {
  checkDocument,
  readDocument,
  requireValid,
  simulateDocument,
} from "../../src/policies/check.ts";

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
  assert.deepEqual(await checkDocument("acme", flatMap), []);
  assert.ok(turns > 3);
});

test("a large document is examined in a thread just as a small one is here", async () => {
  assert.deepEqual(await checkDocument("acme", large), []);
  assert.equal((await readDocument("acme", large))?.rules[0]?.id, "r");
  const { verdict } = await simulateDocument("acme", large, { command: "git status" });
  assert.deepEqual(verdict, { decision: "ALLOWED", rule: "r", reason: null });
  assert.equal((await checkDocument("acme", `${large}a: ]`))[0]?.line, 5);
});

/** Eight kibibytes: 901 patterns, each to be compared with the commands of 901 tests. */
const multiplied = `schema: signalbox/policy/v1
rules:
  - id: r
    effect: deny
    match: {commands: [&c {glob: "${"a*".repeat(60)}b*"}, ${"*c, ".repeat(900)}]}
tests: [&t {command: "${"a".repeat(900)}", expect: deny}, ${"*t, ".repeat(900)}]
`;
const steps = "takes more than 300,000,000 steps (compared characters)";

test("what aliases multiply is refused by its work, and the event loop turns meanwhile", async (t) => {
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  t.after(() => clearInterval(turning));
  assert.ok(multiplied.length < 10_000);
  const [problem] = await checkDocument("acme", multiplied);
  assert.match(
    problem?.message ?? "",
    /^tests\[\d+\]: running the tests up to this one takes more/,
  );
  assert.ok(problem?.message.endsWith(steps));
  assert.equal(problem?.line, 6);
  assert.ok(turns > 3);
});

test("a decision does not run the document's tests, and is refused beyond the same limit", async () => {
  const { verdict } = await simulateDocument("acme", multiplied, { command: "ls" });
  assert.equal(verdict?.decision, "DENIED");
  const many = multiplied.replace("&c ", `&c {glob: "*b*"}, ${"*c, ".repeat(2_000)}`);
  const { problems } = await simulateDocument("acme", many, { command: "a".repeat(65_536) });
  assert.deepEqual(problems, [{ message: `This ${steps}`, line: 1, column: 1 }]);
});

test("a short text of many tokens is examined in a thread as well", async (t) => {
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  t.after(() => clearInterval(turning));
  assert.deepEqual(await checkDocument("acme", `a: [${"{},".repeat(2_000)}]`), []);
  assert.ok(turns > 3);
});

test("threads that have answered are asked again", async () => {
  const costly = `a: [${"{},".repeat(500)}]`;
  const examined = () => examineInThread({ yaml: costly, command: undefined });
  for (let i = 0; i < 3; i++) assert.deepEqual((await examined()).problems, []);
  const [a, b] = await Promise.all([examined(), examined()]);
  assert.deepEqual(a, b);
});

test("a check that runs into its limit of time is the server's fault, not the document's", async () => {
  await assert.rejects(examineInThread({ yaml: multiplied, command: undefined }, 1), {
    status: 503,
    retryAfterSeconds: 30,
    message: "The server is too busy to check this policy: try again later",
  });
});

test("more large documents than there are threads are all checked", async () => {
  const checks = Array.from({ length: 4 }, () =>
    checkDocument("acme", `a: "${"x".repeat(10_000)}`),
  );
  for (const problems of await Promise.all(checks)) assert.equal(problems.length, 1);
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
