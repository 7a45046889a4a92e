/** Holds `docs/policies.md` to the checker: its keys, its examples and the messages that it quotes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDocument } from "../../src/policies/check.ts";
import { readSource } from "./source-files.ts";

const reference = readSource("docs/policies.md");
const UNKNOWN = "qqqqqqqqqqqq";

async function messagesOf(yaml: string): Promise<readonly string[]> {
  const problems = await checkDocument({ party: ["test"] }, yaml);
  return problems.map(({ message }) => message);
}

/** The rows of the first table below a heading, as their first cells. */
function firstCells(heading: string): readonly string[] {
  const start = reference.indexOf(`### ${heading}\n`);
  assert.notEqual(start, -1, `docs/policies.md has no heading "${heading}"`);
  const [, table = ""] = /\n(\|[\s\S]*?\|)\n\n/.exec(reference.slice(start)) ?? [];
  const rows = table.split("\n").slice(2);
  assert.notEqual(rows.length, 0, `no table below "${heading}"`);
  return rows.map((row) => row.split("|")[1] ?? "");
}

function keysOf(heading: string): readonly string[] {
  return firstCells(heading)
    .flatMap((cell) => [...cell.matchAll(/`([a-z]+)`/g)].map(([, key = ""]) => key))
    .sort();
}

/** The checker lists the keys that it knows when it meets one that it does not know. */
async function keysOfChecker(yaml: string): Promise<readonly string[]> {
  const messages = await messagesOf(yaml);
  const listed = messages.map((message) => /unknown key, known are (.*)$/.exec(message)?.[1]);
  const known = listed.find((list) => list !== undefined);
  assert.ok(known, `no list of keys in ${JSON.stringify(messages)}`);
  return known.split(/, | and /).sort();
}

const levels = [
  ["At the root", `${UNKNOWN}: 1\n`],
  ["In a rule", `rules: [{ ${UNKNOWN}: 1 }]\n`],
  ["In `match`", `rules: [{ id: a, effect: deny, match: { ${UNKNOWN}: 1 } }]\n`],
  ["In a test", `rules: []\ntests: [{ ${UNKNOWN}: 1 }]\n`],
] as const;

for (const [heading, document] of levels) {
  test(`the policy reference has every key of the checker: ${heading}`, async () => {
    const yaml = `schema: signalbox/policy/v1\n${document}`;
    assert.deepEqual(keysOf(heading), await keysOfChecker(yaml));
  });
}

test("the policy reference has every kind of command pattern", async () => {
  const yaml = `schema: signalbox/policy/v1\nrules: [{ id: a, effect: deny, match: { commands: [{ ${UNKNOWN}: x }] } }]\n`;
  const [, matching = ""] = reference.split("\n## Matching\n");
  const [section = ""] = matching.split("\n## ");
  const documented = [...section.matchAll(/^\| `(\w+): /gm)].map(([, k]) => k);
  assert.deepEqual(documented.sort(), await keysOfChecker(yaml));
});

const examples = [...reference.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ""]) => yaml);

test("the policy reference has examples", () => assert.ok(examples.length >= 5));

for (const [index, yaml] of examples.entries()) {
  test(`example ${index + 1} of the policy reference is valid, its tests included`, async () => {
    assert.match(yaml, /^schema: signalbox\/policy\/v1$/m);
    assert.deepEqual(await messagesOf(yaml), []);
  });
}

const READ_ONLY = "{ id: read-only, effect: allow, match: {} }";
const quoted = [
  [
    'rules[2].match.command: unknown key, did you mean "commands"?',
    `rules: [${READ_ONLY}, { id: b, effect: deny, match: {} }, { id: c, effect: deny, match: { command: [] } }]`,
  ],
  ["rules[0].effect: expected allow or deny", "rules: [{ id: a, effect: no, match: {} }]"],
  ['rules[1]: another rule has the id "read-only"', `rules: [${READ_ONLY}, ${READ_ONLY}]`],
  [
    "rules[0].match.commands[1]: expected one of exact, prefix or glob",
    "rules: [{ id: a, effect: deny, match: { commands: [{ exact: a }, { exact: a, glob: b }] } }]",
  ],
  [
    'rules[0].match.capabilities[0]: expected <provider>/<name>, found "kubernetes"',
    "rules: [{ id: a, effect: deny, match: { capabilities: [kubernetes] } }]",
  ],
  [
    "rules[0].except: expected only in rules that deny; write a rule that denies instead",
    "rules: [{ id: a, effect: allow, match: {}, except: [{ providers: [git] }] }]",
  ],
  [
    'tests[3]: expected deny, but it is decided allow by rule "people"',
    "rules: [{ id: people, effect: allow, match: {} }]\ntests: [{ command: a, expect: allow }, { command: b, expect: allow }, { command: c, expect: allow }, { command: d, expect: deny }]",
  ],
] as const;

for (const [message, document] of quoted) {
  test(`the policy reference quotes the checker: ${message}`, async () => {
    assert.ok(reference.includes(`\`${message}\``));
    assert.deepEqual(await messagesOf(`schema: signalbox/policy/v1\n${document}\n`), [message]);
  });
}
