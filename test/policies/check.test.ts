import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { examineInThread } from "../../src/policies/check-thread.ts";
import {
  askerOf,
  checkDocument,
  readDocument,
  requireValid,
  simulateDocument,
} from "../../src/policies/check.ts";

const ACME = { party: ["v1", "acme"] };
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
  assert.deepEqual(await checkDocument(ACME, flatMap), []);
  assert.ok(turns > 3);
});

test("small documents that arrive together are checked one in each turn of the event loop", async () => {
  let checked = 0;
  const checks = Array.from({ length: 3 }, async () => {
    await checkDocument(ACME, "a: 1");
    checked++;
  });
  await turnOfTheLoop();
  assert.ok(checked >= 1 && checked < 3);
  await Promise.all(checks);
  assert.equal(checked, 3);
});

test("a large document is examined in a thread just as a small one is here", async () => {
  assert.deepEqual(await checkDocument(ACME, large), []);
  assert.equal((await readDocument(ACME, large))?.rules[0]?.id, "r");
  const { verdict } = await simulateDocument(ACME, large, { command: "git status" });
  assert.deepEqual(verdict, { decision: "ALLOWED", rule: "r", reason: null });
  assert.equal((await checkDocument(ACME, `${large}a: ]`))[0]?.line, 5);
});

/** Eight kibibytes: 901 patterns, each compared with the commands of 901 tests. */
const multiplied = `schema: signalbox/policy/v1
rules:
  - id: r
    effect: deny
    match: {commands: [&c {glob: "${"a*".repeat(60)}b*"}, ${"*c, ".repeat(900)}]}
tests: [&t {command: "${"a".repeat(900)}", expect: deny}, ${"*t, ".repeat(900)}]
`;
const steps = "takes more than 300,000,000 steps (compared characters)";

test("a document multiplied by aliases is refused by its work, and the event loop turns meanwhile", async (t) => {
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  t.after(() => clearInterval(turning));
  assert.ok(multiplied.length < 10_000);
  const [problem] = await checkDocument(ACME, multiplied);
  assert.match(
    problem?.message ?? "",
    /^tests\[\d+\]: running the tests up to this one takes more/,
  );
  assert.ok(problem?.message.endsWith(steps));
  assert.equal(problem?.line, 6);
  assert.ok(turns > 3);
});

test("a decision does not run the document's tests, and is refused beyond the same limit", async () => {
  const { verdict } = await simulateDocument(ACME, multiplied, { command: "ls" });
  assert.equal(verdict?.decision, "DENIED");
  const many = multiplied.replace("&c ", `&c {glob: "*b*"}, ${"*c, ".repeat(2_000)}`);
  const { problems } = await simulateDocument(ACME, many, { command: "a".repeat(65_536) });
  assert.deepEqual(problems, [{ message: `This ${steps}`, line: 1, column: 1 }]);
});

test("a short text of many tokens is examined in a thread as well", async (t) => {
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  t.after(() => clearInterval(turning));
  assert.deepEqual(await checkDocument(ACME, `a: [${"{},".repeat(2_000)}]`), []);
  assert.ok(turns > 3);
});

test("a thread examines one small document after another, and ends after a large one", async (t) => {
  let started = 0;
  const count = (): void => void started++;
  process.on("worker", count);
  t.after(() => process.off("worker", count));
  const large = { yaml: `a: [${"{},".repeat(500)}]`, command: undefined };
  const small = { ...large, maxSteps: 10_000_000 };
  const examined = await examineInThread(small);
  assert.deepEqual(examined.problems, []);
  const before = started;
  assert.deepEqual(await examineInThread(small), examined);
  assert.deepEqual(await examineInThread(large), examined);
  assert.equal(started, before);
  const [a, b] = await Promise.all([examineInThread(small), examineInThread(large)]);
  assert.deepEqual([a, b, started], [examined, examined, before + 2]);
});

test("a check that exceeds its time limit is the server's fault, not the document's", async () => {
  await assert.rejects(examineInThread({ yaml: multiplied, command: undefined }, undefined, 1), {
    status: 503,
    retryAfterSeconds: 30,
    message: "The server is too busy to check this policy: try again later",
  });
});

test("more large documents than there are threads are all checked", async () => {
  const checks = Array.from({ length: 4 }, () => checkDocument(ACME, `a: "${"x".repeat(10_000)}`));
  for (const problems of await Promise.all(checks)) assert.equal(problems.length, 1);
});

/** Many steps by their estimate, so it counts as large, but it is checked quickly. */
const largeComment = `a: 1\n# ${"-".repeat(60_000)}\n`;

/** A document of many tokens, each of which counts as a thousand steps. */
const tokens = (count: number): string => `a: [${"{},".repeat(count / 3)}]`;

const lineUps = {
  "a small document does not wait for large ones": {
    flood: `${multiplied}# ${"-".repeat(60_000)}`,
    other: tokens(6_000),
  },
  "a document of a few thousand tokens does not wait for those of tens of thousands": {
    flood: tokens(45_000),
    other: tokens(3_000),
  },
};
for (const [name, { flood, other }] of Object.entries(lineUps)) {
  test(name, async () => {
    await checkDocument(ACME, other); // so that its thread has started
    const finished: string[] = [];
    const check = async (yaml: string): Promise<void> => {
      await checkDocument(ACME, yaml);
      finished.push(yaml);
    };
    await Promise.all([flood, flood, flood, flood, other].map(check));
    assert.equal(finished.length, 5);
    assert.notEqual(finished.at(-1), other);
  });
}

test("a client with many large documents does not take another client's place in line", async () => {
  const flood = Array.from({ length: 24 }, () =>
    checkDocument({ party: ["public", "default", "192.0.2.1"] }, largeComment),
  );
  const outcomes = Promise.allSettled(flood);
  const other = { party: ["public", "default", "192.0.2.2"] };
  assert.deepEqual(await checkDocument(other, largeComment), []);
  const refused = (await outcomes).filter(({ status }) => status === "rejected");
  assert.equal(refused.length, 24 - 1 - 16 + 1); // one runs, 16 wait, and one of those was dropped
});

test("organizations, networks and users take turns, even if one of them has many documents", async () => {
  const finished: string[] = [];
  const check = async (name: string, asker: Parameters<typeof checkDocument>[0]): Promise<void> => {
    await checkDocument(asker, largeComment);
    finished.push(name);
  };
  const { signal: gone } = new AbortController();
  const client = (organization: string, network: string, id: string) =>
    askerOf({ party: ["v1", organization, network], gone, recheck: () => {} }, { id });
  await Promise.all([
    ...Array.from({ length: 12 }, () => check("flood", client("acme", "192.0.2.1", "ada"))),
    check("organization", client("beta", "192.0.2.1", "bob")),
    check("network", client("acme", "192.0.2.2", "cy")),
    check("user", client("acme", "192.0.2.1", "dan")),
  ]);
  assert.deepEqual(
    finished
      .slice(0, 8)
      .filter((name) => name !== "flood")
      .sort(),
    [...["network", "organization", "user"]],
  );
});

test("a check whose client disconnects is dropped from the line", async () => {
  const running = checkDocument(ACME, largeComment);
  const client = new AbortController();
  const left = checkDocument({ ...ACME, gone: client.signal }, largeComment);
  const reason = new Error("left");
  client.abort(reason);
  await assert.rejects(left, reason);
  assert.deepEqual(await running, []);
});

test("a large check ends when its client disconnects", async () => {
  const client = new AbortController();
  const reason = new Error("left");
  const leave = (): void => client.abort(reason);
  process.once("worker", (worker) => worker.once("online", leave));
  const running = checkDocument({ ...ACME, gone: client.signal }, multiplied + "#".repeat(60_000));
  await assert.rejects(running, reason);
});

test("a refusal names line and column of the first problem, and how many more there are", async () => {
  await assert.rejects(requireValid(ACME, "a: 1\na: 2"), {
    status: 400,
    message: 'yaml, line 2, column 1: Duplicate key "a"',
  });
  await assert.rejects(requireValid(ACME, "a: 1\na: 2\na: 3"), /Duplicate key "a" \(and 1 more\)$/);
  await requireValid(ACME, "a: 1");
});
