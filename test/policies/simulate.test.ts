import assert from "node:assert/strict";
import { test } from "node:test";
import { draftPolicy } from "../../src/policies/draft.ts";
import { simulate } from "../../src/policies/simulate.ts";
import { MemoryPolicies } from "../support/memory-policies.ts";

const ASKER = { party: ["v1", "acme"] };

const denyRm = `schema: signalbox/policy/v1
default: allow
rules:
  - {id: no-rm, effect: deny, reason: Too final, match: {commands: [{prefix: rm}]}}
`;
const denyAll = "schema: signalbox/policy/v1\nrules: []\n";

async function storeOf(texts: Readonly<Record<string, string>>): Promise<MemoryPolicies> {
  const policies = new MemoryPolicies();
  for (const [version, yaml] of Object.entries(texts)) {
    await policies.publish("acme", draftPolicy({ yaml, version }, 0, undefined));
  }
  return policies;
}

test("the active policy decides unless a version or a document is named", async () => {
  const policies = await storeOf({ v1: denyRm, v2: denyAll });
  const none = { decision: "DENIED", mode: "enforce", rule: null, reason: null };
  const command = "rm x";
  assert.deepEqual(await simulate(ASKER, "acme", { command }, policies), {
    ...none,
    version: "v2",
  });
  const byRule = {
    decision: "DENIED",
    mode: "enforce",
    rule: "no-rm",
    reason: "Too final",
    line: 4,
  };
  const named = await simulate(ASKER, "acme", { command, version: "v1" }, policies);
  assert.deepEqual(named, { ...byRule, version: "v1" });
  const given = await simulate(ASKER, "acme", { command, yaml: denyRm }, policies);
  assert.deepEqual(given, { ...byRule, version: null });
});

test("every field of a command is used", async () => {
  const yaml = `schema: signalbox/policy/v1
rules:
  - id: all
    effect: allow
    match:
      {providers: [p], capabilities: [p/c], consumers: [ai], executors: [e], resources: [r]}
`;
  const fields = { provider: "p", capability: "p/c", consumer: "ai", executor: "e" } as const;
  const policies = await storeOf({});
  const decide = async (resource: string) =>
    (await simulate(ASKER, "acme", { yaml, command: "x", ...fields, resource }, policies)).decision;
  assert.equal(await decide("r"), "ALLOWED");
  assert.equal(await decide("s"), "DENIED");
});

test("a tool without a command is decided by the rules about tools", async () => {
  const yaml = `${denyAll.replace("[]", "")}  - {id: box, effect: deny, match: {capabilities: [mcp/box/*]}}\n`;
  const policies = await storeOf({});
  const decide = async (facts: { command?: string; capability?: string }) => {
    const { decision, rule } = await simulate(ASKER, "acme", { yaml, ...facts }, policies);
    return [decision, rule];
  };
  assert.deepEqual(await decide({ capability: "mcp/box/run" }), ["DENIED", "box"]);
  assert.deepEqual(await decide({ capability: "claude-code/Edit" }), ["ALLOWED", null]);
  assert.deepEqual(await decide({ command: "", capability: "claude-code/Edit" }), [
    ...["ALLOWED", null],
  ]);
  const message = "command: required, or capability for a tool that runs no command";
  await assert.rejects(decide({ command: "" }), { status: 400, message });
});

test("a document whose tests fail can still be tried", async () => {
  const yaml = `${denyRm}tests: [{command: rm x, expect: allow}]`;
  const { rule } = await simulate(ASKER, "acme", { yaml, command: "rm x" }, await storeOf({}));
  assert.equal(rule, "no-rm");
});

test("a document that cannot decide is refused with the reason", async () => {
  const policies = await storeOf({ other: "a: 1", old: "a: 1\na: 2" });
  const refusals = [
    [{ yaml: "a: 1", version: "v1" }, 400, "Give yaml or version, not both"],
    [{ version: "v9" }, 404, 'There is no policy version "v9"'],
    [
      { version: "other" },
      400,
      'Only documents that declare "schema: signalbox/policy/v1" can be simulated',
    ],
    [{ version: "old" }, 400, 'Policy version "old", line 2, column 1: Duplicate key "a"'],
    [{ yaml: "a: *b" }, 400, 'yaml, line 1, column 4: The alias "*b" has no anchor before it'],
    [{ yaml: "schema: signalbox/policy/v1" }, 400, "yaml, line 1, column 1: rules: required"],
  ] as const;
  for (const [named, status, message] of refusals) {
    const deciding = simulate(ASKER, "acme", { command: "x", ...named }, policies);
    await assert.rejects(deciding, { status, message });
  }
  const empty = simulate(ASKER, "acme", { command: "x" }, await storeOf({}));
  await assert.rejects(empty, { status: 404, message: "No policy is active" });
});
