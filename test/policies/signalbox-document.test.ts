import assert from "node:assert/strict";
import { test } from "node:test";
import { examine } from "../../src/policies/examine.ts";

const SCHEMA = "schema: signalbox/policy/v1\n";

function examined(yaml: string) {
  return examine({ yaml: SCHEMA + yaml, command: undefined });
}

function rule(rest: string): string {
  return `rules:\n  - id: r\n    effect: deny\n${rest.replace(/^/gm, "    ")}\n`;
}

const full = `
name: Everyday work
description: What people and agents may do
metadata: {owner: platform, level: 3}
x-team: [anything, {goes: here}]
default: allow
rules:
  - id: no-force
    effect: deny
    description: History stays
    reason: Ask the owner
    enabled: true
    match:
      commands:
        - exact: git push --force
        - prefix: git push -f
        - glob: "*--force*"
      providers: [git, "git*"]
      capabilities: [git/push, "git/*", "*/push", mcp/github/push, "*"]
      consumers: [ai, "c*"]
      executors: ["*"]
      resources: [main]
tests:
  - command: git push --force
    provider: git
    capability: git/push
    consumer: ai
    executor: ada
    resource: main
    expect: deny
    rule: no-force
  - {command: git status, expect: allow}
`;

test("a document with every key of the schema is read completely", () => {
  const { problems, document } = examined(full);
  assert.deepEqual(problems, []);
  assert.deepEqual(document, {
    name: "Everyday work",
    description: "What people and agents may do",
    default: "allow",
    rules: [
      {
        id: "no-force",
        effect: "deny",
        description: "History stays",
        reason: "Ask the owner",
        enabled: true,
        match: {
          commands: [
            { exact: "git push --force" },
            { prefix: "git push -f" },
            { glob: "*--force*" },
          ],
          providers: ["git", "git*"],
          capabilities: ["git/push", "git/*", "*/push", "mcp/github/push", "*"],
          consumers: ["ai", "c*"],
          executors: ["*"],
          resources: ["main"],
        },
      },
    ],
    tests: [
      {
        command: "git push --force",
        provider: "git",
        capability: "git/push",
        consumer: "ai",
        executor: "ada",
        resource: "main",
        expect: "deny",
        rule: "no-force",
      },
      { command: "git status", expect: "allow" },
    ],
  });
});

test("the default is deny, and rules are enabled by default", () => {
  const { document } = examined(rule("match: {}"));
  assert.equal(document?.default, "deny");
  assert.equal(document?.rules[0]?.enabled, true);
});

test("a document may have no rules, but must have the list", () => {
  assert.deepEqual(examined("rules: []").problems, []);
  assert.equal(examined("name: x").problems[0]?.message, "rules: required");
});

test("aliases may replace any part", () => {
  const yaml = `x-lists:\n  - &providers [git]\n  - &match {providers: *providers}\n${rule("match: *match")}`;
  const { problems, document } = examined(yaml);
  assert.deepEqual(problems, []);
  assert.deepEqual(document?.rules[0]?.match, { providers: ["git"] });
  const declared = "x-schema: &s signalbox/policy/v1\nschema: *s\nrule: []";
  assert.equal(examine({ yaml: declared, command: undefined }).problems.length, 2);
});

test("a document of another schema, or without one, is not checked further", () => {
  for (const yaml of ["rules: 5", "schema: acme/v1\nrules: 5", "schema: 1"]) {
    const { problems, document } = examine({ yaml, command: undefined });
    assert.deepEqual(problems, []);
    assert.equal(document, undefined);
  }
});

const NO_COMMAND = "tests[0]: expected a command, or the capability of a tool that runs none";
/** The expected problem, with its line (after the schema's) and column. */
const faults: readonly (readonly [yaml: string, message: string, line: number, column: number])[] =
  [
    ["rulez: []\nrules: []", 'rulez: unknown key, did you mean "rules"?', 2, 1],
    [
      "zzz: 1\nrules: []",
      "zzz: unknown key, known are schema, name, description, metadata, default, mode, rules and tests",
      2,
      1,
    ],
    ["1: x\nrules: []", "expected a key that is a text", 2, 1],
    ["rules: {}", "rules: expected a list", 2, 8],
    ["rules:", "rules: expected a list", 2, 7],
    ["rules: [x]", "rules[0]: expected a mapping", 2, 9],
    ["name: 5\nrules: []", "name: expected a text", 2, 7],
    ["name: ' '\nrules: []", "name: must not be empty", 2, 7],
    ["metadata: x\nrules: []", "metadata: expected a mapping", 2, 11],
    ["default: Deny\nrules: []", "default: expected allow or deny", 2, 10],
    ["rules: [{}]", "rules[0].id: required", 2, 9],
    ["rules: [{id: a, effect: allow}]", "rules[0].match: required", 2, 9],
    ["rules: [{id: 1, effect: allow, match: {}}]", "rules[0].id: expected a text", 2, 14],
    [
      "rules: [{id: a, effect: permit, match: {}}]",
      "rules[0].effect: expected allow or deny",
      2,
      25,
    ],
    [
      "rules: [{id: a, effct: allow, effect: allow, match: {}}]",
      'rules[0].effct: unknown key, did you mean "effect"?',
      2,
      17,
    ],
    [
      "rules: [{id: a, effect: allow, match: {}, enabled: yes}]",
      "rules[0].enabled: expected true or false",
      2,
      52,
    ],
    [
      "rules:\n- {id: a, effect: allow, match: {}}\n- {id: a, effect: deny, match: {}}",
      'rules[1]: another rule has the id "a"',
      4,
      3,
    ],
    [rule("match: []"), "rules[0].match: expected a mapping", 5, 12],
    [
      rule("match: {comands: []}"),
      'rules[0].match.comands: unknown key, did you mean "commands"?',
      5,
      13,
    ],
    [rule("match: {x-y: 1}").trimEnd(), "rules[0].match.x-y: unknown key, known are", 5, 13],
    [rule("match: {commands: []}"), "rules[0].match.commands: expected at least one entry", 5, 23],
    [rule("match: {commands: [git]}"), "rules[0].match.commands[0]: expected a mapping", 5, 24],
    [
      rule("match: {commands: [{exact: a, glob: b}]}"),
      "rules[0].match.commands[0]: expected one of exact, prefix or glob",
      5,
      24,
    ],
    [
      rule("match: {commands: [{exact}]}"),
      "rules[0].match.commands[0].exact: expected a text",
      5,
      25,
    ],
    [
      rule("match: {commands: [{regex: a}]}"),
      "rules[0].match.commands[0].regex: unknown key, known are exact, prefix and glob",
      5,
      25,
    ],
    [rule("match: {providers: git}"), "rules[0].match.providers: expected a list", 5, 24],
    [
      rule("match: {providers: []}"),
      "rules[0].match.providers: expected at least one entry",
      5,
      24,
    ],
    [rule("match: {providers: [1]}"), "rules[0].match.providers[0]: expected a text", 5, 25],
    [
      rule("match: {capabilities: [git]}"),
      'rules[0].match.capabilities[0]: expected <provider>/<name>, found "git"',
      5,
      28,
    ],
    [
      rule("match: {capabilities: [git//b]}"),
      'rules[0].match.capabilities[0]: expected <provider>/<name>, found "git//b"',
      5,
      28,
    ],
    [
      rule("match: {consumers: [robot]}"),
      'rules[0].match.consumers[0]: expected human, ai or ci, found "robot"',
      5,
      25,
    ],
    ["rules: []\ntests: x", "tests: expected a list", 3, 8],
    ["rules: []\ntests: [{command: a}]", "tests[0].expect: required", 3, 9],
    ["rules: []\ntests: [{expect: deny}]", NO_COMMAND, 3, 9],
    [
      "rules: []\ntests: [{command: a, expect: DENIED}]",
      "tests[0].expect: expected allow or deny",
      3,
      30,
    ],
    [
      "rules: []\ntests: [{command: a, expect: deny, consumer: x}]",
      "tests[0].consumer: expected human, ai or ci",
      3,
      46,
    ],
    [
      "rules: []\ntests: [{command: a, expect: deny, capability: x}]",
      'tests[0].capability: expected <provider>/<name>, found "x"',
      3,
      48,
    ],
  ];

for (const [yaml, message, line, column] of faults) {
  test(`refused: ${message}`, () => {
    const { problems, document } = examined(yaml);
    const [first] = problems;
    assert.ok(first?.message.startsWith(message), first?.message);
    assert.deepEqual([first?.line, first?.column], [line, column]);
    assert.equal(document, undefined);
  });
}

test("one reading finds every fault", () => {
  const { problems } = examined("default: no\nrules: [x, {id: a}, {id: b, effect: y, match: 1}]");
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      "default: expected allow or deny",
      "rules[0]: expected a mapping",
      "rules[1].effect: required",
      "rules[1].match: required",
      "rules[2].effect: expected allow or deny",
      "rules[2].match: expected a mapping",
    ],
  );
});

test("a failing test reports its name, the expected and actual decision, and the rule", () => {
  const yaml = `${rule("match: {commands: [{prefix: rm}]}")}tests:
  - {command: rm x, expect: allow}
  - {command: ls, expect: allow}
  - {command: rm x, expect: deny, rule: other}
  - {command: ls, expect: deny, rule: r}
  - {command: rm x, expect: deny, rule: r}
  - {command: "x=(a b); ls", expect: allow}
`;
  const { problems, document } = examined(yaml);
  assert.deepEqual(problems, [
    {
      message: 'tests[0]: expected allow, but it is decided deny by rule "r"',
      line: 7,
      column: 5,
    },
    {
      message: "tests[1]: expected allow, but it is decided deny by the default",
      line: 8,
      column: 5,
    },
    {
      message: 'tests[2]: expected deny by rule "other", but it is decided deny by rule "r"',
      line: 9,
      column: 5,
    },
    {
      message: 'tests[3]: expected deny by rule "r", but it is decided deny by the default',
      line: 10,
      column: 5,
    },
    {
      message:
        "tests[5]: expected allow, but it is decided deny by the default: it cannot be split because of an array",
      line: 12,
      column: 5,
    },
  ]);
  assert.ok(document, "the shape is right, so commands can be tried");
});

test("a failing test of a tool without a command does not blame the default", () => {
  const yaml = `${rule("match: {commands: [{prefix: rm}]}")}tests:
  - {capability: box/run, expect: deny}
`;
  const { problems } = examined(yaml);
  assert.deepEqual(
    problems.map(({ message }) => message),
    ["tests[0]: expected deny, but it is decided allow since no rule applies to it"],
  );
});

test("a document that is not YAML has only that problem", () => {
  assert.equal(examined("rules: [\nname: 5").document, undefined);
  assert.ok(examined("rules: [\nname: 5").problems.length > 0);
});
