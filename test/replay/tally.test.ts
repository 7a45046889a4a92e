import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { examine } from "../../src/policies/examine.ts";
import { evaluate } from "../../src/policies/evaluate.ts";
import type { PolicyDocument } from "../../src/policies/rules.ts";
import { StepBudget, TooMuchWork } from "../../src/policies/step-budget.ts";
import { MOST_NAMES, Tally } from "../../src/replay/tally.ts";
import {
  naiveDecision,
  type NaiveDocument,
  type NaiveFacts,
  type NaiveMatch,
  naiveToolDecision,
} from "./naive-replay.ts";

const SCHEMA = "signalbox/policy/v1";

function documentOf(value: NaiveDocument): PolicyDocument {
  // JSON is YAML, and is written in far less time.
  const { document, problems } = examine({ yaml: JSON.stringify(value), command: { command: "" } });
  assert.deepEqual(problems, []);
  return document as PolicyDocument;
}

function eventOf(facts: NaiveFacts, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    ...{ id: "e", organization_id: "default", status: "allowed", ai: false, consumer: "human" },
    ...{ timestamp: "2026-11-20T20:30:00.000Z", ingested_at: "2026-11-20T20:30:00.000Z" },
    ...(facts as Partial<AuditEvent>),
    ...more,
  } as AuditEvent;
}

const some = fc.constantFrom;
const commands = some("git push", "git push -f", "git status", "kubectl get pods", "ls", "rm x");
const patterns = fc.oneof(
  some("git push", "ls", "kubectl get pods").map((exact) => ({ exact })),
  some("git", "git push", "kubectl get", "rm").map((prefix) => ({ prefix })),
  some("*", "git*", "*push*", "k*pods", "ls").map((glob) => ({ glob })),
);
const listOf = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 1, maxLength: 2 });
const conditions = {
  commands: listOf(patterns),
  providers: listOf(some("git", "k*", "aws")),
  capabilities: listOf(some("*", "git/push", "k8s/*")),
  consumers: listOf(some("ai", "human", "*")),
  executors: listOf(some("ada", "b*")),
  resources: listOf(some("prod-*", "dev")),
};
const matches = fc.record(conditions, { requiredKeys: [] }) as fc.Arbitrary<NaiveMatch>;
const exceptions = matches.filter((match) => Object.keys(match).length > 0);
const rules = fc.oneof(
  fc.record({ effect: some("allow" as const), match: matches, enabled: fc.boolean() }),
  fc.record(
    { effect: some("deny" as const), match: matches, except: listOf(exceptions) },
    { requiredKeys: ["effect", "match"] },
  ),
);
const documents: fc.Arbitrary<NaiveDocument> = fc
  .record({
    default: some("allow" as const, "deny" as const),
    rules: fc.array(rules, { maxLength: 5 }),
  })
  .map((document) => ({
    schema: SCHEMA,
    ...document,
    rules: document.rules.map((rule, i) => ({ id: `r${i}`, ...rule })),
  }));
const VALUES = {
  capability: ["git/push", "k8s/get", "other/x"],
  executor: ["ada", "bob", "eve"],
  resource: ["prod-eu", "dev", "test"],
};
const facts = fc.record(
  {
    command: commands,
    capability: some(...VALUES.capability),
    consumer: some("ai", "human", "ci"),
    executor: some(...VALUES.executor),
    resource: some(...VALUES.resource),
  },
  { requiredKeys: ["command", "consumer"] },
);
const events = fc.array(
  fc.record({
    facts,
    decision: some("ALLOWED" as const, "DENIED" as const, undefined),
    source: some("runtime", "guard", "tool of the guard"),
  }),
  { minLength: 1, maxLength: 12 },
);
/** A guard reports all that it decides by. */
const OF_GUARD = { runtime_version: "guard 0.2.0" };

function toolUse({ command: _, capability = "other/x", ...others }: NaiveFacts): NaiveFacts {
  return { ...others, capability, provider: capability.split("/")[0] as string };
}

/** All facts that an event may have had: every combination of values in the place of those that it lacks. */
function possible(known: NaiveFacts): NaiveFacts[] {
  let all: NaiveFacts[] = [known];
  for (const [field, values] of Object.entries(VALUES)) {
    if (known[field as keyof NaiveFacts] !== undefined) continue;
    all = all.flatMap((one) => [one, ...values.map((value) => ({ ...one, [field]: value }))]);
  }
  return all;
}

test("a replay agrees with the plainest implementation", () => {
  fc.assert(
    fc.property(
      documents,
      fc.option(documents, { nil: undefined }),
      events,
      fc.boolean(),
      (candidate, base, list, isForgetful) => {
        const tally = new Tally(
          { candidate: documentOf(candidate), base: base && documentOf(base), examples: 200 },
          new StepBudget(Infinity),
          isForgetful ? { keys: 2, characters: 200 } : undefined, // most commands are decided again
        );
        const wanted = { evaluated: 0, newly_denied: 0, newly_allowed: 0 };
        let leftOut = 0;
        for (const { facts: given, decision, source } of list) {
          const isTool = source === "tool of the guard";
          const known = isTool ? toolUse(given) : given;
          const decide = isTool ? naiveToolDecision : naiveDecision;
          const all = source === "runtime" ? possible(known) : [known];
          const counts = structuredClone(tally.counts());
          const event = eventOf(known, {
            ...(decision && { policy_decision: decision }),
            ...(source !== "runtime" && OF_GUARD),
          });
          tally.add(event);
          const after = tally.counts();
          const now = decide(candidate, known).decision;
          const was = base ? decide(base, known).decision : decision;
          const isSure = [candidate, ...(base ? [base] : [])].every((document) => {
            const { decision: own } = decide(document, known);
            return all.every((one) => decide(document, one).decision === own);
          });
          if (after.evaluated === counts.evaluated) {
            leftOut++;
            // Of an event with all its values, only a missing decision prevents a comparison.
            assert.ok(all.length > 1 || was === undefined);
            continue;
          }
          // An event that is compared has the same decision whatever its unknown values were.
          assert.ok(isSure && was !== undefined);
          wanted.evaluated++;
          if (was !== now) wanted[now === "DENIED" ? "newly_denied" : "newly_allowed"]++;
          assert.deepEqual(
            after.rules
              .filter(({ hits }, i) => hits > (counts.rules[i]?.hits ?? 0))
              .map(({ id }) => id),
            [decide(candidate, known).rule],
          );
        }
        const { evaluated, unchanged, newly_denied, newly_allowed, not_replayable } =
          tally.counts();
        assert.deepEqual({ evaluated, newly_denied, newly_allowed }, wanted);
        assert.equal(unchanged, evaluated - newly_denied - newly_allowed);
        assert.equal(
          not_replayable.reduce((sum, one) => sum + one.events, 0),
          leftOut,
        );
      },
    ),
    { numRuns: 2_000 },
  );
});

/** Shell texts that are like each other: with wrappers, assignments, quotes, lists and faults. */
const pieces = fc.tuple(
  some("", "", "A=1 ", "PATH=x ", "sudo ", "env ", "/bin/", "FOO=$(ls) "),
  some("git push", "git", "git  push -f", "'git' push", "kubectl get pods", "ls", "rm x", "rm y"),
  some("", "", " > f", " $X", " | sh", " '", " {a,b}", "\nls"),
);
const shellTexts = fc
  .array(pieces, { minLength: 1, maxLength: 3 })
  .chain((all) =>
    some(" && ", "; ", " | ").map((joint) => all.map((one) => one.join("")).join(joint)),
  );
const someCommands = fc.record({ commands: listOf(patterns) });
const textRules = fc.oneof(
  fc.record({ effect: some("allow" as const), match: someCommands }),
  fc.record(
    { effect: some("deny" as const), match: someCommands, except: listOf(someCommands) },
    { requiredKeys: ["effect", "match"] },
  ),
  fc.record({
    effect: some("allow" as const, "deny" as const),
    match: fc.record({ providers: listOf(some("git", "k*", "ls")) }),
  }),
);
/** Documents that look at texts and programs only, and at many of them. */
const textDocuments = fc
  .tuple(
    some("allow" as const, "deny" as const),
    fc.array(textRules, { minLength: 1, maxLength: 4 }),
  )
  .map(([effect, list]) =>
    documentOf({
      schema: SCHEMA,
      default: effect,
      rules: list.map((rule, i) => ({ id: `r${i}`, ...rule })),
    }),
  );
const shellFacts = fc.record({
  ...{ command: shellTexts, provider: some("git", "kubectl", undefined) },
  consumer: some("ai", "human"),
});

test("commands that are decided together are decided as each of them by itself", () => {
  fc.assert(
    fc.property(
      textDocuments,
      fc.array(shellFacts, { minLength: 2, maxLength: 12 }),
      fc.boolean(),
      (document, list, isForgetful) => {
        const tally = new Tally(
          { candidate: document, base: undefined, examples: 0 },
          new StepBudget(Infinity),
          isForgetful ? { keys: 4, characters: 200 } : undefined,
        );
        for (const facts of list) {
          const { decision, rule } = evaluate(document, facts, new StepBudget(Infinity));
          const before = structuredClone(tally.counts());
          tally.add(eventOf(facts as NaiveFacts, { policy_decision: "ALLOWED" }));
          const { newly_denied, rules: after } = tally.counts();
          const isHit = ({ hits }: { hits: number }, i: number): boolean =>
            hits > (before.rules[i]?.hits ?? 0);
          assert.equal(after.find(isHit)?.id, rule, facts.command);
          assert.equal(newly_denied > before.newly_denied, decision === "DENIED", facts.command);
        }
      },
    ),
    { numRuns: 400 },
  );
});

const DENY_PUSH: NaiveDocument = {
  schema: SCHEMA,
  default: "allow",
  rules: [{ id: "no-push", effect: "deny", match: { commands: [{ prefix: "git push" }] } }],
};
const ALLOW_ALL: NaiveDocument = { schema: SCHEMA, default: "allow", rules: [] };

function replayed(
  candidate: NaiveDocument,
  list: readonly AuditEvent[],
  base: NaiveDocument | "recorded" = ALLOW_ALL,
  examples = 20,
) {
  const documents = {
    candidate: documentOf(candidate),
    base: base === "recorded" ? undefined : documentOf(base),
  };
  const tally = new Tally({ ...documents, examples }, new StepBudget(Infinity));
  for (const event of list) tally.add(event);
  return tally.counts();
}

function reasonsOf(document: NaiveDocument, facts: NaiveFacts) {
  return replayed(document, [eventOf(facts)]).not_replayable;
}

test("an event is left out if its decision depends on a value that is unknown", () => {
  const asking = (match: NaiveMatch, effect: "allow" | "deny" = "deny"): NaiveDocument => ({
    ...ALLOW_ALL,
    rules: [{ id: "r", effect, match }],
  });
  const command = "git push";
  const one = (reason: string) => [{ reason, events: 1 }];
  const { rules } = DENY_PUSH;
  assert.deepEqual(reasonsOf(DENY_PUSH, {}), one("command_missing"));
  assert.deepEqual(
    reasonsOf(asking({ providers: ["git"] }), { provider: "kubectl" }),
    one("command_missing"),
  );
  const redacted = "curl -H 'Authorization: [redacted:bearer]' x";
  assert.deepEqual(reasonsOf(DENY_PUSH, { command: redacted }), one("command_redacted"));
  for (const [key, field] of [
    ["capabilities", "capability"],
    ["executors", "executor"],
    ["resources", "resource"],
  ] as const) {
    assert.deepEqual(reasonsOf(asking({ [key]: ["*"] }), { command }), one(`${field}_missing`));
  }
  const resources = asking({ resources: ["prod-*"] });
  assert.deepEqual(
    reasonsOf(resources, { command, resource: "x[redacted:url]" }),
    one("resource_redacted"),
  );
  // These decisions are the same for every value.
  assert.deepEqual(reasonsOf(asking({ resources: ["prod-*"] }, "allow"), { command }), []);
  assert.deepEqual(
    reasonsOf({ ...resources, rules: [...resources.rules, ...rules] }, { command }),
    [],
  );
  assert.deepEqual(
    reasonsOf(asking({ resources: ["*"], commands: [{ prefix: "ls" }] }), { command }),
    [],
  );
  assert.deepEqual(reasonsOf(asking({ consumers: ["ai"] }), {}), []);
});

test("what the event of a guard lacks did not exist", () => {
  const rules: NaiveDocument["rules"] = [
    { id: "tools", effect: "deny", match: { capabilities: ["mcp/box/*"] } },
    { id: "prod", effect: "deny", match: { resources: ["prod-*"] } },
    { id: "no-push", effect: "deny", match: { commands: [{ prefix: "git push" }] } },
  ];
  const document = { ...ALLOW_ALL, rules };
  const shell = { command: "ls" };
  const tool = { provider: "mcp/box", capability: "mcp/box/run" };
  const editor = { provider: "claude-code", capability: "claude-code/Edit" };
  for (const facts of [shell, tool, editor]) {
    assert.deepEqual(reasonsOf(document, { ...facts, ...OF_GUARD } as NaiveFacts), []);
  }
  const unread = reasonsOf(document, OF_GUARD as NaiveFacts); // it could not tell what was about to run
  assert.deepEqual(unread, [{ reason: "command_missing", events: 1 }]);
});

test("a command with a removed secret may be a text that no rule allows", () => {
  const people: NaiveDocument = {
    schema: SCHEMA,
    default: "deny",
    rules: [
      { id: "people", effect: "allow", match: { consumers: ["human"] } },
      { id: "no-push", effect: "deny", match: { commands: [{ prefix: "git push" }] } },
    ],
  };
  const reasons = reasonsOf(people, { command: "ls [redacted:token]" });
  assert.deepEqual(reasons, [{ reason: "command_redacted", events: 1 }]);
});

test("the reason names the value in doubt, not one that only might matter", () => {
  const document: NaiveDocument = {
    ...ALLOW_ALL,
    rules: [
      { id: "a", effect: "deny", match: { executors: ["*"], commands: [{ prefix: "ls" }] } },
      { id: "b", effect: "deny", match: { resources: ["prod"] } },
    ],
  };
  assert.deepEqual(reasonsOf(document, { command: "git push" }), [
    { reason: "resource_missing", events: 1 },
  ]);
});

test("without a base the recorded decisions count, and events without one are left out", () => {
  const list = [
    eventOf({ command: "git push" }, { policy_decision: "ALLOWED" }),
    eventOf({ command: "git push" }, { policy_decision: "DENIED" }),
    eventOf({ command: "ls" }, { policy_decision: "DENIED" }),
    eventOf({ command: "ls" }),
  ];
  const { rules, examples, top: _, ...counts } = replayed(DENY_PUSH, list, "recorded");
  assert.deepEqual(counts, {
    ...{ evaluated: 3, unchanged: 1, newly_denied: 1, newly_allowed: 1 },
    not_replayable: [{ reason: "no_decision", events: 1 }],
  });
  assert.deepEqual(rules, [
    { id: "no-push", hits: 2, newly_denied: 1, newly_allowed: 0 },
    { id: null, hits: 1, newly_denied: 0, newly_allowed: 1 },
  ]);
  assert.deepEqual(
    examples.map(({ event, was, now, rule }) => [event.command, was, now, rule]),
    [
      ["git push", "ALLOWED", "DENIED", "no-push"],
      ["ls", "DENIED", "ALLOWED", null],
    ],
  );
});

test("the names with the most changes are counted", () => {
  const list = ["ada", "bob", "bob", "x".repeat(257)].map((executor, i) =>
    eventOf({ command: "git push", executor, provider: "git" }, { runtime_name: `m${i}` }),
  );
  const { top } = replayed(DENY_PUSH, [...list, eventOf({ command: "ls", executor: "eve" })]);
  const changed = (name: string, newly_denied: number) => ({
    name,
    newly_denied,
    newly_allowed: 0,
  });
  assert.deepEqual(top.executors, [changed("bob", 2), changed("ada", 1)]);
  assert.deepEqual(top.providers, [changed("git", 4)]);
  assert.equal(top.runtimes.length, 4);
  const many = Array.from({ length: MOST_NAMES + 50 }, (_, i) =>
    eventOf({ command: "git push", executor: `e${i}` }),
  );
  const counts = replayed(DENY_PUSH, many);
  assert.deepEqual([counts.newly_denied, counts.top.executors.length], [many.length, 10]);
});

test("examples are different commands, and a rare change is not hidden by a frequent one", () => {
  const opposite: NaiveDocument = {
    ...ALLOW_ALL,
    rules: [{ id: "no-ls", effect: "deny", match: { commands: [{ prefix: "ls" }] } }],
  };
  const push = (i: number) => eventOf({ command: `git push ${i % 50}` }, { id: `p${i}` });
  const list = [
    ...Array.from({ length: 100 }, (_, i) => push(i)),
    eventOf({ command: "ls" }, { id: "l" }),
  ];
  const shown = (examples: number) =>
    replayed(DENY_PUSH, list, opposite, examples).examples.map(({ event }) => event.id);
  assert.deepEqual(shown(4), ["p0", "p1", "p2", "l"]);
  assert.equal(shown(200).length, 51);
  assert.deepEqual(shown(0), []);
  const long = replayed(DENY_PUSH, [eventOf({ command: `git push ${"😀".repeat(1_000)}` })]);
  assert.match(long.examples[0]?.event.command ?? "", /^git push (?:😀)+…$/u);
});

test("commands that no rule looks at are decided alike, apart from texts that cannot be split", () => {
  const document: NaiveDocument = {
    schema: SCHEMA,
    default: "deny",
    rules: [
      { id: "people", effect: "allow", match: { consumers: ["human"] } },
      { id: "no-push", effect: "deny", match: { commands: [{ prefix: "git push" }] } },
    ],
  };
  const commands = ["ls", "cat 'x", "cat x", "ls", "cat 'x"];
  const list = commands.flatMap((command) => [
    eventOf({ command }),
    eventOf({ command, executor: "ada" }),
    eventOf({ command, consumer: "ai" }),
  ]);
  const { rules, examples } = replayed(document, list, { ...ALLOW_ALL, default: "deny" });
  assert.deepEqual(
    rules.map(({ id, hits }) => [id, hits]),
    [
      ["people", 6],
      ["no-push", 0],
      [null, 9],
    ],
  );
  assert.deepEqual(
    examples.map(({ event }) => event.command),
    ["ls", "cat x"],
  );
});

test("space that shells read as a part of a word makes another command", () => {
  const document: NaiveDocument = {
    ...ALLOW_ALL,
    rules: [
      { id: "no-push", effect: "deny", match: { commands: [{ prefix: "git push" }] } },
      { id: "no-echo", effect: "deny", match: { commands: [{ exact: "echo \\" }] } },
    ],
  };
  const others = ["\u00a0git push", "git push\u00a0", "\vgit push", "\u3000", "echo \\\n"];
  for (const list of [
    ["git push", "echo \\", ...others],
    [...others, "git push", "echo \\"],
  ]) {
    const { examples } = replayed(
      document,
      list.map((command) => eventOf({ command })),
    );
    const denied = examples.map(({ event }) => event.command);
    assert.deepEqual(denied.toSorted(), ["echo \\", "git push"]);
  }
});

test("facts whose values run into each other are different commands", () => {
  const document: NaiveDocument = {
    ...ALLOW_ALL,
    rules: [{ id: "r", effect: "deny", match: { executors: ["b"] } }],
  };
  const list = [{ capability: "ab" }, { capability: "a", executor: "b" }, { executor: "ab" }].map(
    (facts) => eventOf({ command: "ls", ...facts }),
  );
  const { newly_denied, not_replayable } = replayed(document, list);
  assert.equal(newly_denied, 1);
  assert.deepEqual(not_replayable, [{ reason: "executor_missing", events: 1 }]);
});

test("a provider that was given and one that the service derived are different facts", () => {
  const match = { providers: ["mcp/box"], commands: [{ prefix: "rm" }] };
  const document: NaiveDocument = { ...ALLOW_ALL, rules: [{ id: "r", effect: "deny", match }] };
  const facts = { command: "mcp/box ; rm x", provider: "mcp/box" };
  const derived = eventOf(facts);
  const given = eventOf({ ...facts, capability: "mcp/box/run" });
  for (const list of [
    [derived, given],
    [given, derived],
  ]) {
    const { examples } = replayed(document, list);
    const denied = examples.map(({ event }) => event.capability);
    assert.deepEqual(denied, ["mcp/box/run"]);
  }
});

test("all decisions share one limit of steps", () => {
  const tally = new Tally(
    { candidate: documentOf(DENY_PUSH), base: undefined, examples: 0 },
    new StepBudget(20_000),
  );
  assert.throws(() => {
    for (let i = 0; i < 1_000; i++) {
      tally.add(eventOf({ command: `git ${i}` }, { policy_decision: "ALLOWED" }));
    }
  }, TooMuchWork);
});

test("documents of very many rules and patterns decide like the plainest implementation", () => {
  const many = Array.from({ length: 100 }, (_, i) => i);
  const document: NaiveDocument = {
    schema: SCHEMA,
    default: "allow",
    rules: [
      ...many.map((i) => ({
        id: `r${i}`,
        effect: "deny" as const,
        match: { commands: [{ prefix: "ls" }], executors: [`e${i}`, `*-${i}`] },
      })),
      { id: "providers", effect: "deny", match: { providers: ["gi*"], resources: ["prod"] } },
    ],
  };
  const tally = new Tally(
    { candidate: documentOf(document), base: undefined, examples: 0 },
    new StepBudget(Infinity),
  );
  let denied = 0;
  for (const command of ["ls", "git x", "cat", "ls -l"]) {
    for (const executor of ["e7", "x-99", "e700", "x"]) {
      for (const given of [{ provider: "git" }, { provider: "p" }, {}]) {
        const facts: NaiveFacts = { command, executor, resource: "prod", ...given };
        tally.add(eventOf(facts, { policy_decision: "ALLOWED" }));
        if (naiveDecision(document, facts).decision === "DENIED") denied++;
      }
    }
  }
  const { evaluated, newly_denied } = tally.counts();
  assert.deepEqual([evaluated, newly_denied], [48, denied]);
});

const SHELL_TEXTS = [
  ...[
    "true; git push",
    "sudo -u x git push",
    "bash -c 'git push -f'",
    "/usr/bin/git push x",
    "A=1 git push",
  ],
  ...[
    "git push > out",
    "{git,push} x",
    "  git   push ",
    '"git" push',
    "git$X push",
    "ls && rm x | git status",
  ],
  ...[
    "git push 'a",
    "$(git push)",
    "X=y",
    "> out",
    "env -S 'rm x'",
    "if true; then rm x; fi",
    "eval git push",
  ],
] as const;

test("only the rules that can decide a command are tried, with the decisions of all rules", () => {
  const shellEvents = fc.array(
    fc.record({
      command: some(...SHELL_TEXTS),
      provider: some("git", "kubectl", "sudo"),
      capability: some("git/push", "x"),
      consumer: some("ai" as const, "human" as const),
      executor: some("ada", "bob", "eve"),
      resource: some("prod-eu", "dev"),
    }),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(documents, shellEvents, (given, list) => {
      const document = documentOf(given);
      const tally = new Tally(
        { candidate: document, base: undefined, examples: 0 },
        new StepBudget(Infinity),
      );
      const hits = new Map<string | null, number>();
      for (const facts of list) {
        tally.add(eventOf(facts, { policy_decision: "ALLOWED" }));
        const { rule } = evaluate(document, facts, new StepBudget(Infinity));
        hits.set(rule, (hits.get(rule) ?? 0) + 1);
      }
      const counted = tally.counts().rules.filter((rule) => rule.hits > 0);
      assert.deepEqual(new Map(counted.map((rule) => [rule.id, rule.hits] as const)), hits);
    }),
    { numRuns: 600 },
  );
});
