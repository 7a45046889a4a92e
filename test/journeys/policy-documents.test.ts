import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../support/start.ts";

// Valid and invalid policy documents. Each case is published and validated on one service.
const app = await start({ after });
const POLICIES = "/api/public/policies";
const MIB = 1024 * 1024;

const VALID: readonly (readonly [string, string])[] = [
  ["a mapping", "a: 1"],
  ["another format's policy", "apiVersion: policy/v3\nspec:\n  allow: ['*']\n"],
  ["JSON, which is YAML", '{"a": [1, 2, {"b": null}]}'],
  ["line ends of Windows", "a: 1\r\nb: 2\r\n"],
  ["a byte order mark", "\ufeffa: 1\n"],
  ["comments and blank ends", "# first\na: 1   \n\n\n# last"],
  ["a document's start and end", "---\na: 1\n...\n"],
  ["a version directive", "%YAML 1.2\n---\na: 1\n"],
  ["anchors and aliases", "a: &x [1, 2]\nb: *x\n"],
  ["block texts", "a: |\n  line\n   line\nb: >-\n  folded\n"],
  ["emoji and accents", "naïve: 🚂\n"],
  ["null values", "a:\nb: ~\n"],
  ["dates and booleans of YAML 1.1", "a: yes\nb: 2026-11-20\n"],
  ["keys that are no strings", "1: a\ntrue: b\n"],
  ["a key called __proto__", "__proto__: { a: 1 }\nconstructor: 1\n"],
  ["standard tags", "a: !!str 1\n"],
  ["the largest size", "a: " + "x".repeat(MIB - 3)],
  ["the largest size in bytes", "a: " + "é".repeat((MIB - 4) / 2) + "x"],
];

for (const [name, yaml] of VALID) {
  test(`a policy is: ${name}`, async () => {
    const published = await app.post(POLICIES, { yaml, version: name });
    assert.equal(published.status, 201, published.text.slice(0, 300));
    assert.equal(published.body.yaml, yaml);
    const stored = await app.get(`${POLICIES}/${encodeURIComponent(name)}`);
    assert.equal(stored.body.yaml, yaml);
  });
}

test("a document that can be published is valid", async () => {
  for (const [name, yaml] of VALID.filter(isSmall)) {
    const { body } = await app.post(`${POLICIES}/validate`, { yaml });
    assert.deepEqual(body, { valid: true, problems: [] }, name);
  }
});

/** Whether a document is checked at once: larger ones need a thread, and take about a second. */
function isSmall([, yaml]: readonly [string, string]): boolean {
  return yaml.length < 8192;
}

const DEEP = 4000;

const INVALID: readonly (readonly [string, string])[] = [
  ["an open list", "a: ["],
  ["a wrong indentation", "a: 1\n b: 2\n"],
  ["a tab as indentation", "a:\n\tb: 1\n"],
  ["a duplicate key", "a: 1\nb: 2\na: 3\n"],
  ["a duplicate key further in", "a:\n  - b: 1\n    b: 2\n"],
  ["a duplicate key in other words", 'a: 1\n"a": 2\n'],
  ["an alias of nothing", "a: *nowhere"],
  ["an alias before its anchor", "a: *x\nb: &x 1\n"],
  ["an unknown tag", "a: !secret b"],
  ["an unknown tag of YAML's own", "a: !!python/object b"],
  ["two documents", "a: 1\n---\nb: 2\n"],
  ["a list", "- a\n- b\n"],
  ["a text", "just text"],
  ["a number", "42"],
  ["an empty mapping", "{}"],
  ["null", "~"],
  ["comments alone", "# nothing\n"],
  ["blanks alone", "   \n\n"],
  ["only a document's start", "---\n"],
  ["a text with a quote left open", 'a: "b'],
  ["a byte too many", "a: " + "x".repeat(MIB - 2)],
  ["a byte too many, in fewer characters", "a: " + "é".repeat(MIB / 2)],
  ["a billion laughs", laughs()],
  ["a flow without an end", "a: " + "[".repeat(DEEP)],
  ["a deep flow", "a: " + "[".repeat(DEEP) + "]".repeat(DEEP)],
  ["deep indentation", Array.from({ length: 120 }, (_, n) => `${" ".repeat(n)}a:`).join("\n")],
  ["an alias within its own anchor", "a: &x\n  b: *x\n"],
  ["a control character", "a: b\u0000c"],
];

function laughs(): string {
  const lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"];
  for (let n = 1; n < 10; n++) {
    lines.push(
      `a${n}: &a${n} [${Array(10)
        .fill(`*a${n - 1}`)
        .join(", ")}]`,
    );
  }
  return lines.join("\n");
}

for (const [name, yaml] of INVALID) {
  test(`not a policy: ${name}`, async () => {
    const before = (await app.get(POLICIES)).body.active;
    const published = await app.post(POLICIES, { yaml, version: `no ${name}` });
    assert.equal(published.status, 400, published.text.slice(0, 300));
    assert.ok(published.body.error.length < 1000);
    assert.equal((await app.get(POLICIES)).body.active, before);
  });
}

test("a document that cannot be published is invalid, and its problems have places", async () => {
  for (const [name, yaml] of INVALID.filter(isSmall)) {
    const { status, body } = await app.post(`${POLICIES}/validate`, { yaml });
    assert.equal(status, 200);
    assert.equal(body.valid, false, name);
    assert.ok(body.problems.length > 0);
    for (const { line, column, message } of body.problems) {
      assert.ok(line >= 1 && column >= 1 && message !== "");
    }
  }
});

test("a refusal names line and column", async () => {
  const { body } = await app.post(POLICIES, { yaml: "a: 1\nb: 2\na: 3\n" });
  assert.match(body.error, /line 3/i);
  assert.match(body.error, /column 1/i);
  const { problems } = (await app.post(`${POLICIES}/validate`, { yaml: "a: 1\n\nb: *x\n" })).body;
  assert.deepEqual([problems[0].line, problems[0].column], [3, 4]);
});

test("a document that takes long to check does not delay others", async () => {
  const wide = Array.from({ length: 30_000 }, (_, n) => `key${n}: 1`).join("\n");
  const answered: number[] = [];
  const note = ({ status }: { readonly status: number }) => answered.push(status);
  const slow = app.post(POLICIES, { yaml: wide, version: "wide" }).then(note);
  await app.get("/health").then(note);
  await slow;
  assert.deepEqual(answered, [200, 201]);
});

const HEAD = "schema: signalbox/policy/v1\n";
const RULE = "rules:\n  - id: r\n    effect: allow\n";
const ANY = '    match: { commands: [{ glob: "*" }] }\n';
const MATCHERS = `    match:
      commands: [{ exact: ls }, { prefix: git }, { glob: "a*" }]
      providers: [git]
      capabilities: [git/push]
      consumers: [ai]
      executors: ["*"]
      resources: ["acme/*"]
`;
const NONE = "rules: []\n";

const OWN: readonly (readonly [string, string, boolean])[] = [
  ["no rules", NONE, true],
  ["all of the top", `${NONE}name: n\ndescription: d\nmetadata: { a: 1 }\nx-own: 1\n`, true],
  ["the default allow", `${NONE}default: allow\n`, true],
  ["the default deny", `${NONE}default: deny\n`, true],
  ["a rule", RULE + ANY, true],
  ["a whole rule", `${RULE}${ANY}    description: d\n    reason: w\n    enabled: false\n`, true],
  ["every matcher", RULE + MATCHERS, true],
  ["an unknown key", `${NONE}colour: red\n`, false],
  ["an unknown default", `${NONE}default: maybe\n`, false],
  ["rules that are no list", "rules: {}\n", false],
  ["a rule without id", `rules:\n  - effect: allow\n${ANY}`, false],
  ["a rule without effect", `rules:\n  - id: r\n${ANY}`, false],
  ["an unknown effect", `rules:\n  - id: r\n    effect: ask\n${ANY}`, false],
  ["two rules of one id", `${RULE}${ANY}  - id: r\n    effect: deny\n${ANY}`, false],
  ["an unknown key of a rule", `${RULE}${ANY}    colour: red\n`, false],
  ["an unknown matcher", `${RULE}    match: { shells: [sh] }\n`, false],
  ["a regular expression", `${RULE}    match: { commands: [{ regex: "a+" }] }\n`, false],
  ["a command of two kinds", `${RULE}    match: { commands: [{ exact: a, glob: b }] }\n`, false],
  ["a command that is text", `${RULE}    match: { commands: [ls] }\n`, false],
  ["a capability of another shape", `${RULE}    match: { capabilities: [push] }\n`, false],
  ["an unknown consumer", `${RULE}    match: { consumers: [robot] }\n`, false],
  ["enabled as text", `${RULE}${ANY}    enabled: "no"\n`, false],
  ["a name that is a number", `${NONE}name: 1\n`, false],
  ["a test that holds", `${RULE}${ANY}tests: [{ command: ls, expect: allow, rule: r }]\n`, true],
  ["a test that fails", `${NONE}tests: [{ command: ls, expect: allow }]\n`, false],
  ["a test of another rule", `${RULE}${ANY}tests: [{ command: a, expect: allow, rule: x }]`, false],
  ["a test without expectation", `${NONE}tests: [{ command: ls }]\n`, false],
];

test("a document of another schema is accepted unchanged", async () => {
  for (const yaml of [
    "schema: example/policy/v2\ncolour: red\n",
    "schema: 1\n",
    "based_on: signalbox/policy/v1\n",
    "rules: []\n",
  ]) {
    assert.equal((await app.post(`${POLICIES}/validate`, { yaml })).body.valid, true, yaml);
  }
});

const MISSPELLED: readonly (readonly [yaml: string, message: string])[] = [
  ["signalbox/policy/v2", 'schema: expected signalbox/policy/v1, found "signalbox/policy/v2"'],
  ["Signalbox/policy/v1", 'schema: expected signalbox/policy/v1, found "Signalbox/policy/v1"'],
  ["signalbox", 'schema: expected signalbox/policy/v1, found "signalbox"'],
  ["singalbox/policy/v1", 'schema: expected signalbox/policy/v1, found "singalbox/policy/v1"'],
];

for (const [value, message] of MISSPELLED) {
  test(`the schema ${value} is refused, since nothing of the document would be checked`, async () => {
    const yaml = `rules: []\nschema: ${value}\n`;
    const { body } = await app.post(`${POLICIES}/validate`, { yaml });
    assert.deepEqual(body, { valid: false, problems: [{ message, line: 2, column: 9 }] });
    const { status } = await app.post(POLICIES, { yaml, version: `misspelled ${value}` });
    assert.equal(status, 400);
  });
}

test("a misspelled key of the schema is refused", async () => {
  for (const key of ["shema", "Schema", "$schema"]) {
    const yaml = `${key}: signalbox/policy/v1\nrules: []\n`;
    const { body } = await app.post(`${POLICIES}/validate`, { yaml });
    const message = `${key}: unknown key, did you mean "schema"?`;
    assert.deepEqual(body, { valid: false, problems: [{ message, line: 1, column: 1 }] });
  }
});

for (const [name, text, isValid] of OWN) {
  test(`in our schema, ${name} is ${isValid ? "valid" : "refused"}`, async () => {
    const yaml = HEAD + text;
    const { body } = await app.post(`${POLICIES}/validate`, { yaml });
    assert.equal(body.valid, isValid, JSON.stringify(body.problems));
    const { status } = await app.post(POLICIES, { yaml, version: `own ${name}` });
    assert.equal(status, isValid ? 201 : 400);
  });
}

const DECIDING = `${HEAD}default: deny
rules:
  - id: reads
    effect: allow
    reason: reading is fine
    match:
      commands: [{ prefix: kubectl get }, { exact: whoami }, { glob: "git *--dry-run*" }]
  - id: no-secrets
    effect: deny
    reason: secrets stay
    match: { commands: [{ glob: "*secret*" }] }
  - id: bots
    effect: allow
    match: { consumers: [ci], providers: [terraform, "aws*"], resources: ["acme/*"] }
  - id: off
    effect: allow
    enabled: false
    match: { commands: [{ exact: rm }] }
  - id: caps
    effect: allow
    match: { capabilities: ["git/*"], executors: [ada, "bot-*"] }
`;

const DECISIONS: readonly (readonly [object, string, string | null])[] = [
  [{ command: "kubectl get pods" }, "ALLOWED", "reads"],
  [{ command: "kubectl get" }, "ALLOWED", "reads"],
  [{ command: "kubectl getx" }, "DENIED", null],
  [{ command: "whoami" }, "ALLOWED", "reads"],
  [{ command: "whoami -a" }, "DENIED", null],
  [{ command: "git push --dry-run origin" }, "ALLOWED", "reads"],
  [{ command: "kubectl get secrets" }, "DENIED", "no-secrets"],
  [{ command: "rm" }, "DENIED", null],
  [{ command: "x", consumer: "ci", provider: "aws-cli", resource: "acme/w" }, "ALLOWED", "bots"],
  [{ command: "x", consumer: "ci", provider: "aws-cli", resource: "other" }, "DENIED", null],
  [{ command: "x", consumer: "ai", provider: "terraform", resource: "acme/w" }, "DENIED", null],
  [{ command: "x", capability: "git/push", executor: "ada" }, "ALLOWED", "caps"],
  [{ command: "x", capability: "git/push", executor: "bot-7" }, "ALLOWED", "caps"],
  [{ command: "x", capability: "git/push" }, "DENIED", null],
];

for (const [asked, decision, rule] of DECISIONS) {
  test(`${JSON.stringify(asked)} is ${decision} by ${rule}`, async () => {
    const { status, body } = await app.post(`${POLICIES}/simulate`, { yaml: DECIDING, ...asked });
    assert.equal(status, 200);
    assert.deepEqual([body.decision, body.rule, body.version], [decision, rule, null]);
    assert.equal(body.reason === null, rule !== "reads" && rule !== "no-secrets");
  });
}

test("a simulation uses the active policy, a version or a text", async (t) => {
  const own = await start(t);
  const simulate = (body: object) => own.post(`/api/v1/policies/simulate`, body);
  assert.equal((await simulate({ command: "ls" })).status, 404);
  await own.post(POLICIES, { yaml: `${HEAD}${NONE}default: allow\n`, version: "open" });
  await own.post(POLICIES, { yaml: `${HEAD}${NONE}default: deny\n`, version: "closed" });
  const closed = {
    decision: "DENIED",
    mode: "enforce",
    rule: null,
    reason: null,
    version: "closed",
  };
  assert.deepEqual((await simulate({ command: "ls" })).body, closed);
  const open = { ...closed, decision: "ALLOWED", version: "open" };
  assert.deepEqual((await simulate({ command: "ls", version: "open" })).body, open);
  assert.equal((await simulate({ command: "ls", version: "none" })).status, 404);
  assert.equal((await simulate({ command: "" })).status, 400);
  assert.equal((await simulate({ command: "ls", yaml: "a: [" })).status, 400);
  assert.equal((await simulate({ command: "ls", yaml: "rules: []" })).status, 400);
  await own.post(POLICIES, { yaml: "rules: []", version: "foreign" });
  const foreign = await simulate({ command: "ls" });
  assert.equal(foreign.status, 400);
  assert.match(foreign.body.error, /signalbox\/policy\/v1/);
  assert.equal((await own.get(POLICIES)).body.policies.length, 3);
});
