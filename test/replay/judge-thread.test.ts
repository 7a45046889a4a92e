import assert from "node:assert/strict";
import { test } from "node:test";
import { BadInput } from "../../src/core/errors.ts";
import { JudgeThread } from "../../src/replay/judge-thread.ts";

const tooMuch = (error: unknown): boolean =>
  error instanceof BadInput && error.message.startsWith("The replay takes more than 50 steps");

test("rows after too much work get the same answer, wherever they were cut", async (t) => {
  const thread = JudgeThread.take(false);
  t.after(() => thread.close());
  const candidate =
    "schema: signalbox/policy/v1\nrules: [{ id: r, effect: deny, match: { commands: [{ glob: '*x*' }] } }]";
  const unfit = await thread.begin({
    candidate,
    base: undefined,
    compare: "decisions",
    examples: 1,
    maxSteps: 50,
    facts: {},
  });
  assert.equal(unfit, undefined);
  const row = JSON.stringify({ command: "a".repeat(1000), policy_decision: "allowed" });
  const [first, rest] = [`${row}\n${row.slice(0, 20)}`, `${row.slice(20)}\n`];
  await assert.rejects(thread.take(Buffer.from(first)), tooMuch);
  await assert.rejects(thread.take(Buffer.from(rest)), tooMuch);
  await assert.rejects(thread.end(), tooMuch);
});
