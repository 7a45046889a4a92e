import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { examine } from "../../src/policies/examine.ts";
import { shortened, type DraftEvent } from "../../src/policies/draft-event.ts";
import { draftRules } from "../../src/policies/draft-rule.ts";
import type { Effect } from "../../src/policies/schema.ts";
import { parsingSteps, StepBudget } from "../../src/policies/step-budget.ts";
import { anyText } from "../support/any-text.ts";

const EVENT: DraftEvent = {
  id: "e1",
  timestamp: "2026-11-20T20:27:00.000Z",
  command: "kubectl delete pod web-1 -n prod",
  provider: "kubectl",
  capability: "kubernetes/delete",
  consumer: "ai",
  executor: "ada",
  resource: "prod/web",
};

const ACTIVE = `# kept
schema: signalbox/policy/v1
default: deny
rules:
    # the first
    - id: deny-kubectl-delete-pod
      effect: deny
      match: { providers: [terraform] }
tests:
- command: terraform plan
  expect: deny
`;

/** The draft of a rule for one event. */
function drafted(event: DraftEvent, effect: Effect, active = "") {
  return draftRules([event], effect, active, new StepBudget(Infinity));
}

function draftPolicyWithRule(event: DraftEvent, effect: Effect, active = ""): string | undefined {
  return drafted(event, effect, active)?.yaml;
}

/** The service's result for a draft, and its verdict on the event's command. */
function verdictOf(yaml: string | undefined, event: DraftEvent = EVENT) {
  assert.ok(yaml !== undefined);
  const { command = "anything" } = event;
  assert.deepEqual(examine({ yaml, command: undefined }).problems, [], yaml);
  return examine({ yaml, command: { ...event, command } }).verdict;
}

test("a draft decides its event's command as requested, and no other", () => {
  for (const [effect, decision] of [
    ["allow", "ALLOWED"],
    ["deny", "DENIED"],
  ] as const) {
    const yaml = draftPolicyWithRule(EVENT, effect, undefined);
    const rule = `${effect}-kubectl-delete-pod`;
    assert.equal(verdictOf(yaml)?.decision, decision);
    assert.equal(verdictOf(yaml)?.rule, rule);
    const other = { ...EVENT, command: "kubectl delete pod web-2 -n prod" };
    assert.equal(verdictOf(yaml, other)?.rule, null);
  }
});

test("if the policy cannot be extended, the draft says that it contains only the rule", () => {
  for (const active of [undefined, "rules: []", "--- {schema: signalbox/policy/v1, rules: []}\n"]) {
    assert.match(
      draftPolicyWithRule(EVENT, "allow", active) ?? "",
      /^# This document stands alone/,
    );
  }
});

test("the active policy keeps every line; the new rule and its test come before the existing ones", () => {
  const yaml = draftPolicyWithRule(EVENT, "allow", ACTIVE) ?? "";
  assert.equal(verdictOf(yaml)?.rule, "allow-kubectl-delete-pod");
  const lines = yaml.split("\n");
  let from = 0;
  for (const line of ACTIVE.split("\n")) {
    from = lines.indexOf(line, from) + 1;
    assert.ok(from > 0, line);
  }
});

test("a new rule's id is unused in the policy", () => {
  assert.equal(
    verdictOf(draftPolicyWithRule(EVENT, "deny", ACTIVE))?.rule,
    "deny-kubectl-delete-pod-2",
  );
});

test("a policy without rules or tests gets both", () => {
  const yaml = draftPolicyWithRule(
    EVENT,
    "allow",
    "schema: signalbox/policy/v1\nrules: [] # none\n",
  );
  assert.equal(verdictOf(yaml)?.decision, "ALLOWED");
  assert.match(yaml ?? "", /tests:\n {2}- command/);
});

test("a policy with Windows line ends is extended too", () => {
  const yaml = draftPolicyWithRule(EVENT, "allow", ACTIVE.replaceAll("\n", "\r\n"));
  assert.equal(verdictOf(yaml)?.rule, "allow-kubectl-delete-pod");
});

test("the test of an MCP tool names its capability, which has three parts", () => {
  const event = { ...EVENT, capability: "mcp/github/create_issue" };
  const active = ACTIVE.replace("providers: [terraform]", "capabilities: [mcp/github/*]");
  const yaml = draftRules([event], "test", active, new StepBudget(Infinity))?.yaml;
  assert.match(yaml ?? "", /capability: mcp\/github\/create_issue/);
  assert.equal(verdictOf(yaml, event)?.rule, "deny-kubectl-delete-pod");
});

test("an event without values to match makes no draft, instead of a rule for everything", () => {
  const { id, timestamp } = EVENT;
  for (const bare of [{}, { command: "  " }, { provider: "*" }, { capability: "odd" }]) {
    assert.equal(
      draftPolicyWithRule({ id, timestamp, consumer: "ai", ...bare }, "allow", ACTIVE),
      undefined,
    );
  }
});

test("an event without a command makes a rule from its other fields", () => {
  const { command: _, ...event } = EVENT;
  assert.equal(
    verdictOf(draftPolicyWithRule(event, "allow", undefined), event)?.decision,
    "ALLOWED",
  );
});

test("a command too long for a rule is matched by its first words", () => {
  const event = { ...EVENT, command: `kubectl apply ${"x".repeat(1 << 20)}` };
  const yaml = draftPolicyWithRule(event, "deny", undefined) ?? "";
  assert.ok(yaml.length < 4_000);
  assert.equal(verdictOf(yaml, event)?.decision, "DENIED");
  assert.equal(verdictOf(yaml, { ...event, command: "kubectl apply -f web" })?.rule !== null, true);
});

test("the draft of any event is a valid policy that decides it", () => {
  const text = anyText({ maxLength: 40 }).filter((one) => one.trim() !== "");
  const some = fc.option(text, { nil: undefined });
  const events = fc.record({ command: text, executor: some, resource: some, reason: some });
  fc.assert(
    fc.property(events, fc.constantFrom(undefined, ACTIVE), (given, active) => {
      const event = { ...EVENT, ...given } as DraftEvent;
      assert.equal(
        verdictOf(draftPolicyWithRule(event, "deny", active), event)?.decision,
        "DENIED",
      );
    }),
    { numRuns: 60 },
  );
});

for (const command of [
  "ls\u00a0",
  "\vls",
  "ls\r",
  "ls \\ ",
  "for ((;;)); do ls; done",
  "x=(a b)",
]) {
  test(`the command ${JSON.stringify(command)} is allowed by the rule that is drafted for it`, () => {
    const event = { ...EVENT, command };
    const strict = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";
    const yaml = draftPolicyWithRule(event, "allow", strict);
    assert.equal(verdictOf(yaml, event)?.decision, "ALLOWED", yaml);
    assert.equal(verdictOf(strict, event)?.decision, "DENIED");
  });
}

test("entries before a list with comments, anchors or a document mark are inserted at its start", () => {
  for (const active of [
    `---\n${ACTIVE}`,
    ACTIVE.replace("rules:", "rules: &all # of them"),
    ACTIVE.replace("rules:", '"rules":'),
    ACTIVE.replace("\n    # the first", ""),
  ]) {
    const yaml = draftPolicyWithRule(EVENT, "allow", active) ?? "";
    assert.equal(verdictOf(yaml)?.rule, "allow-kubectl-delete-pod", yaml);
    assert.match(yaml, /deny-kubectl-delete-pod/);
  }
});

test("a shortened event has the same draft, and takes little memory", () => {
  const long = "git push --force ".repeat(60_000);
  for (const event of [
    EVENT,
    { ...EVENT, command: `   ${long}`, reason: long, resource: long, executor: "  " },
    { ...EVENT, command: undefined, provider: "x".repeat(501), capability: "git/push" },
  ]) {
    const short = shortened(event);
    assert.ok(JSON.stringify(short).length < 20_000);
    for (const effect of ["allow", "deny"] as const) {
      const draft = draftPolicyWithRule(short, effect, ACTIVE);
      assert.equal(draft, draftPolicyWithRule(event, effect, ACTIVE));
    }
  }
});

const DENYING = `schema: signalbox/policy/v1
default: deny
rules:
  - id: first
    effect: deny
    reason: |
      Two lines,
      of which this is one
    match:
      consumers: [ai]   # agents
    # the end
  - { id: second, effect: deny, match: { providers: [kubectl] } }
  - id: third
    effect: deny
    except:
      - providers: [git]
    match: {}
tests:
  - { command: kubectl delete pod web-1 -n prod, consumer: ai, expect: deny, rule: first }
`;

test("a command that rules deny is excepted from each of them, and then allowed by a new rule", () => {
  const { yaml = "", changes = [] } = drafted(EVENT, "allow", DENYING) ?? {};
  const verdict = verdictOf(yaml);
  assert.deepEqual([verdict?.decision, verdict?.rule], ["ALLOWED", "allow-kubectl-delete-pod"]);
  assert.deepEqual(
    changes.map(({ change, rule }) => [change, rule]),
    [
      ["exception", "first"],
      ["exception", "second"],
      ["exception", "third"],
      ["rule", "allow-kubectl-delete-pod"],
    ],
  );
  const lines = yaml.split("\n");
  const [first, second, third, allowing] = changes.map(({ line }) => lines[line - 1] ?? "");
  assert.match(first ?? "", /^ {6}- commands: \[/);
  assert.match(second ?? "", /^ {2}- \{ id: second, .*, except: \[\{.*exact: "?kubectl delete pod/);
  assert.match(third ?? "", /^ {6}- commands: \[/);
  assert.match(allowing ?? "", /^ {2}- id: allow-kubectl-delete-pod$/);
  const other = verdictOf(yaml, { ...EVENT, executor: "eve" });
  assert.deepEqual([other?.decision, other?.rule], ["DENIED", "first"]);
  for (const line of DENYING.split("\n")) {
    assert.ok(line.includes("id: second") || lines.includes(line), line);
  }
});

test("a rule with exceptions in flow style gets another one", () => {
  for (const except of [
    "[{ providers: [git] }]",
    "[ { providers: [git] }, ]",
    "[{\n providers: [git] # one\n }]",
  ]) {
    const active = `schema: signalbox/policy/v1\ndefault: allow\nrules:\n  - { id: one, effect: deny, match: {}, except: ${except} }`;
    assert.equal(verdictOf(drafted(EVENT, "allow", active)?.yaml)?.decision, "ALLOWED", active);
  }
});

test("a command that the policy already decides as wanted gets only a test", () => {
  const active =
    "schema: signalbox/policy/v1\ndefault: allow\nrules:\n  - { id: ok, effect: allow, match: {} }\n";
  const { yaml = "", changes = [] } = drafted(EVENT, "allow", active) ?? {};
  assert.equal(verdictOf(yaml)?.rule, "ok");
  assert.deepEqual(
    changes.map(({ change, rule, line }) => [change, rule, line]),
    [["none", "ok", 4]],
  );
  assert.equal(yaml.startsWith(active), true);
  const messages = (event: DraftEvent, text: string) => {
    const draft = drafted(event, "allow", text);
    return [draft?.yaml === text, draft?.changes[0]?.message];
  };
  const said = 'The policy allows it already, by the rule "ok": ';
  assert.deepEqual(messages(EVENT, active), [false, `${said}only a test was added`]);
  assert.deepEqual(messages(EVENT, yaml), [true, `${said}it has the test, too`]);
  const { command: _, ...tool } = EVENT;
  assert.deepEqual(messages(tool, active), [true, `${said}no test can express it`]);
});

test("a draft for a tool without a command has a test of the tool", () => {
  const tool = { ...EVENT, command: undefined, runtime_version: "guard 0.2.0" };
  const closed = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";
  const denied = drafted(tool, "deny", closed);
  assert.match(
    denied?.yaml ?? "",
    /tests:\n[^]*- provider: kubectl\n +capability: kubernetes\/delete\n/,
  );
  assert.equal(denied?.changes[0]?.change, "rule");
  assert.deepEqual(examine({ yaml: denied?.yaml ?? "", command: undefined }).problems, []);
  const allowed = drafted(tool, "allow", closed);
  assert.equal(
    allowed?.changes[0]?.message,
    "The policy allows it already, since no rule applies to it: only a test was added",
  );
});

test("a drafted test that expected the opposite is changed, and others are kept", () => {
  const denied = draftPolicyWithRule(EVENT, "deny", ACTIVE) ?? "";
  const { yaml = "", changes = [] } = drafted(EVENT, "allow", denied) ?? {};
  assert.equal(verdictOf(yaml)?.decision, "ALLOWED");
  assert.equal(yaml.match(/command: "?kubectl delete pod web-1/g)?.length, 1);
  assert.match(yaml, /- command: terraform plan\n {2}expect: deny\n/);
  assert.match(changes.at(-1)?.message ?? "", /\. The test that expected the opposite is changed$/);
  const back = drafted(EVENT, "deny", yaml);
  assert.equal(verdictOf(back?.yaml)?.decision, "DENIED");
});

test("several events make one draft, which decides equal events once", () => {
  const events = [
    EVENT,
    { ...EVENT, id: "e2" },
    { ...EVENT, id: "e3", command: "kubectl scale deployment web" },
    { ...EVENT, id: "e4\nrules: []", executor: "eve", command: "line\nbreak" },
  ];
  for (const effect of ["allow", "deny"] as const) {
    const draft = draftRules(events, effect, DENYING, new StepBudget(Infinity));
    for (const event of events) {
      const decision = effect === "allow" ? "ALLOWED" : "DENIED";
      assert.equal(verdictOf(draft?.yaml, event)?.decision, decision);
    }
    assert.equal(draft?.changes.filter(({ event }) => event === "e2")[0]?.change, "none");
  }
});

test("a new rule is narrowed if it would break a test of the policy", () => {
  const active = `schema: signalbox/policy/v1\nrules: []\ntests:\n  - { command: ${EVENT.command}, executor: bob, expect: deny }\n`;
  const { yaml = "" } = drafted(EVENT, "allow", active) ?? {};
  assert.equal(verdictOf(yaml)?.decision, "ALLOWED");
  assert.equal(verdictOf(yaml, { ...EVENT, executor: "bob" })?.decision, "DENIED");
});

test("the change of a new rule says for whom the rule is", () => {
  const closed = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";
  const guarded = `${closed}tests:\n  - { command: ${EVENT.command}, executor: bob, expect: deny }\n`;
  const { id, timestamp, command } = EVENT;
  const narrower = ": remove the # before a field to narrow it";
  const all = "A new rule allows it, for everybody and on every resource";
  const same = "provider, capability, executor and resource";
  const messageOf = (event: DraftEvent, active: string) =>
    drafted(event, "allow", active)?.changes.at(-1)?.message;
  assert.equal(messageOf(EVENT, closed), all + narrower);
  assert.equal(messageOf({ id, timestamp, command }, closed), all);
  assert.equal(messageOf(EVENT, guarded), `A new rule allows it, with the same ${same}`);
  const tool = { id, timestamp, capability: "mcp/box/run", consumer: "ai" };
  assert.equal(messageOf(tool, closed), "A new rule allows it, with the same capability");
  const excepted = drafted(
    EVENT,
    "allow",
    `${closed.replace("[]", "")}  - { id: no, effect: deny, match: {} }\n`,
  );
  assert.deepEqual(
    excepted?.changes.map(({ change }) => change),
    ["exception", "rule"],
  );
});

test("each parsing of a document that gets many exceptions counts as work", () => {
  const rules = Array.from(
    { length: 20 },
    (_, at) => `  - id: r${at}\n    effect: deny\n    match: { providers: ["*"] }\n`,
  );
  const active = `schema: signalbox/policy/v1\nrules:\n${rules.join("")}`;
  const work = new StepBudget(Infinity);

  const draft = draftRules([EVENT], "allow", active, work);

  assert.equal(draft?.changes.filter(({ change }) => change === "exception").length, rules.length);
  assert.ok(work.spent > rules.length * parsingSteps(active, Infinity), `${work.spent} steps`);
});

/** A document whose tokens are counted, and quick to parse. */
function withTokens(count: number): string {
  return `${ACTIVE}# ${":".repeat(count)}\n`;
}

test("a rule and its test are added by one edit, which parses the document once", () => {
  const active = withTokens(10_000);
  const work = new StepBudget(Infinity);

  const draft = draftRules([EVENT], "allow", active, work);

  assert.match(draft?.yaml ?? "", /tests:\n- command: kubectl delete pod web-1 -n prod\n/);
  const parsings = work.spent / parsingSteps(active, Infinity);
  assert.ok(parsings < 2.5, `${parsings} parsings, with the first one`);
});

test("a draft is given up at the work of one check, since other checks wait for it", () => {
  const draft = { events: [EVENT], effect: "allow" } as const;

  const { problems } = examine({ yaml: withTokens(200_000), command: undefined, draft });

  assert.match(problems[0]?.message ?? "", /takes more than 300,000,000 steps/);
});

const SEVERAL: DraftEvent = {
  id: "e2",
  timestamp: "2026-11-20T20:27:00.000Z",
  provider: "mcp/files",
  capability: "mcp/files/read",
  consumer: "ai",
  resource: "/tmp/x\n/etc/shadow",
  runtime_version: "guard 1",
};
const NO_SHADOW = `schema: signalbox/policy/v1
default: allow
rules:
  - id: no-shadow
    effect: deny
    match: { capabilities: ["*"], resources: [/etc/shadow] }
`;

/** The decisions of a document about the resources of an event, as a guard makes them. */
function decidedEach(yaml: string | undefined, { resource = "", ...event }: DraftEvent) {
  assert.ok(yaml !== undefined);
  assert.deepEqual(examine({ yaml, command: undefined }).problems, [], yaml);
  return resource
    .split("\n")
    .map((one) => examine({ yaml, command: { ...event, resource: one } }).verdict?.decision);
}

test("a tool whose capability no pattern can name is not drafted, rather than all tools of its provider", () => {
  for (const name of ["do it", "*", "x\ny", "z".repeat(600)]) {
    const event = { ...SEVERAL, capability: `mcp/files/${name}` };
    for (const effect of ["allow", "deny", "test"] as const) {
      assert.equal(draftRules([event], effect, NO_SHADOW, new StepBudget(Infinity)), undefined);
    }
    assert.ok(drafted({ ...event, command: "ls" }, "allow", NO_SHADOW), "the command names it");
  }
});

test("a draft decides each resource that a tool may act on", () => {
  const changesOf = (effect: "allow" | "deny" | "test", active: string, event = SEVERAL) => {
    const draft = draftRules([event], effect, active, new StepBudget(Infinity));
    const changes = draft?.changes.map(({ event: id, change, rule }) => [id, change, rule]);
    return [decidedEach(draft?.yaml, event), changes];
  };
  const allowed = ["ALLOWED", "ALLOWED"];
  const shadow = ["ALLOWED", "DENIED"];
  const none = ["e2", "none", null];
  assert.deepEqual(changesOf("allow", NO_SHADOW), [
    allowed,
    [none, ["e2", "exception", "no-shadow"]],
  ]);
  assert.deepEqual(changesOf("deny", NO_SHADOW), [shadow, [["e2", "none", "no-shadow"]]]);
  assert.deepEqual(changesOf("test", NO_SHADOW), [shadow, [none, ["e2", "none", "no-shadow"]]]);
  const other = { ...SEVERAL, resource: "/tmp/x\n/etc/passwd" };
  const rules = ["deny-mcp-files-read", "deny-mcp-files-read-2"].map((id) => ["e2", "rule", id]);
  assert.deepEqual(changesOf("deny", NO_SHADOW, other), [["DENIED", "DENIED"], rules]);
});

test("the resource of a runtime that is not a guard is one, and so is one with very many lines", () => {
  for (const event of [
    { ...SEVERAL, runtime_version: "1.0" },
    { ...SEVERAL, resource: Array.from({ length: 200 }, (_, at) => at).join("\n") },
    { ...SEVERAL, resource: "x\n".repeat(100_000) },
  ]) {
    assert.equal(drafted(shortened(event), "deny", NO_SHADOW)?.changes.length, 1);
  }
});
