import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evaluate as evaluateWithin } from "../../src/policies/evaluate.ts";
import type { Effect } from "../../src/policies/schema.ts";
import type {
  Command,
  CommandPattern,
  RuleMatch,
  PolicyDocument,
  Rule,
} from "../../src/policies/rules.ts";
import { GLOB_FIELDS, globFields } from "../../src/policies/glob-fields.ts";
import { globOf, matchesGlob as matchesWithin } from "../../src/policies/glob.ts";
import { COMPARISON_STEPS, StepBudget } from "../../src/policies/step-budget.ts";

const evaluate = (policy: PolicyDocument, command: Command) =>
  evaluateWithin(policy, command, new StepBudget(Infinity));
const matchesGlob = (pattern: string, text: string) =>
  matchesWithin(globOf(pattern), text, new StepBudget(Infinity));

function rule(
  id: string,
  effect: "allow" | "deny",
  match: RuleMatch,
  more: Partial<Rule> = {},
): Rule {
  return { id, effect, enabled: true, match, ...more };
}

function document(...rules: Rule[]): PolicyDocument {
  return { default: "deny", rules, tests: [] };
}

function matches(match: RuleMatch, command: Command): boolean {
  return evaluate(document(rule("r", "allow", match)), command).decision === "ALLOWED";
}

test("without a matching rule the default decides, and no rule is named", () => {
  const none = { decision: "DENIED", rule: null, reason: null };
  assert.deepEqual(evaluate(document(), { command: "ls" }), none);
  const open: PolicyDocument = { ...document(), default: "allow" };
  assert.deepEqual(evaluate(open, { command: "ls" }), { ...none, decision: "ALLOWED" });
});

test("deny wins over allow in any order, and the first rule of that effect is named", () => {
  const any: RuleMatch = {};
  const verdict = evaluate(
    document(
      rule("a1", "allow", any, { reason: "fine" }),
      rule("d1", "deny", any, { reason: "not now" }),
      rule("d2", "deny", any),
      rule("a2", "allow", any),
    ),
    { command: "ls" },
  );
  assert.deepEqual(verdict, { decision: "DENIED", rule: "d1", reason: "not now" });
  const allowed = evaluate(document(rule("a1", "allow", any), rule("a2", "allow", any)), {
    command: "ls",
  });
  assert.deepEqual(allowed, { decision: "ALLOWED", rule: "a1", reason: null });
});

test("a disabled rule does not apply", () => {
  const off = rule("d", "deny", {}, { enabled: false });
  assert.equal(evaluate(document(off, rule("a", "allow", {})), { command: "ls" }).rule, "a");
});

test("exact matches the whole command, without surrounding space", () => {
  const match = { commands: [{ exact: "git status" }] };
  assert.ok(matches(match, { command: "git status" }));
  assert.ok(matches(match, { command: "  git status\n" }));
  assert.ok(!matches(match, { command: "git status -s" }));
  assert.ok(!matches(match, { command: "git  status" }));
});

test("prefix matches by words, not by letters", () => {
  const match = { commands: [{ prefix: "git push" }] };
  assert.ok(matches(match, { command: "git push" }));
  assert.ok(matches(match, { command: "git   push\torigin" }));
  assert.ok(!matches(match, { command: "git pushy" }));
  assert.ok(!matches(match, { command: "git" }));
  assert.ok(!matches(match, { command: "sudo git push" }));
});

test("a denying rule also sees a command without the options in front, with or without their values", () => {
  const policy = (effect: "allow" | "deny"): PolicyDocument => ({
    default: effect === "deny" ? "allow" : "deny",
    rules: [
      rule("push", effect, {
        commands: [
          ...[{ prefix: "git push" }, { prefix: "cp /" }],
          ...[{ exact: "rm -rf /" }, { glob: "kubectl delete *" }],
        ],
      }),
    ],
    tests: [],
  });
  const ruleFor = (effect: "allow" | "deny", command: string) =>
    evaluate(policy(effect), { command }).rule;
  for (const command of [
    ...["git -C dir push", "git --no-pager -c a=b push origin", "git -c a=b --git-dir x push"],
    ...[
      "/usr/bin/git -C 'a b' push",
      "true; git '-C' dir push",
      "timeout 5 git --work-tree=x push",
    ],
    ...["rm -v -rf /", "kubectl -n prod --context=a delete pod x", "sudo -u ada git -C x push"],
    `git ${"-p ".repeat(16)}push`,
    ...[`g\${x}it -C dir push`, `git \${x} -C dir push`, `git -C dir pu\${x}sh`],
    ...[
      `"g\${x}it" -C dir push`,
      `git "\${x}-C" dir push`,
      `git -C dir "pu\${x}sh"`,
      'cp -r "$x/" y',
    ],
    ...[`env "\${x}-i" git push`, `bash "\${x}-c" 'git push'`, `sudo -u b "g\${x}it" -C d push`],
    ...['git "$@" -C dir push', `git -C dir "\${x[@]}" push`, `git "\${@}" push`],
    ...[`git -C dir "\${@:1}" push`, `git -C dir "\${x[@]:0}" push`, `git \${x:?} push`],
    ...[`\${x:-env} git -C dir push`, `rm -rf "\${x:-}/"`, `git "\${x:?}" push`],
  ]) {
    assert.equal(ruleFor("deny", command), "push", command);
    assert.equal(ruleFor("allow", command), null, command);
  }
  for (const command of [
    ...[
      "git log -C push",
      "git -C a b push",
      "git --git-dir=x a push",
      "git commit -m push",
      "rm -v",
      `cp -r "\${x:?}/" y`,
      `cp -r "\${x:-/tmp}/" y`,
    ],
  ]) {
    assert.equal(ruleFor("deny", command), null, command);
  }
});

test("glob matches the whole command, with any characters for its stars", () => {
  const match = { commands: [{ glob: "rm *-rf*" }] };
  assert.ok(matches(match, { command: "rm -rf /" }));
  assert.ok(!matches(match, { command: "sudo rm -rf /" }));
});

test("one matching entry of a list is enough, but every field must match", () => {
  const match: RuleMatch = { providers: ["aws", "gcp"], consumers: ["ai", "ci"] };
  assert.ok(matches(match, { command: "x", provider: "gcp", consumer: "ai" }));
  assert.ok(!matches(match, { command: "x", provider: "gcp", consumer: "human" }));
  assert.ok(!matches(match, { command: "x", provider: "azure", consumer: "ai" }));
});

test("a field without a value in the command does not match, even by a star", () => {
  for (const field of ["capabilities", "consumers", "executors", "resources"] as const) {
    assert.ok(!matches({ [field]: ["*"] }, { command: "x" }), field);
  }
});

test("the provider defaults to the command's first word", () => {
  assert.ok(matches({ providers: ["kubectl"] }, { command: "  kubectl get pods" }));
  assert.ok(!matches({ providers: ["kubectl"] }, { command: "kubectl", provider: "helm" }));
  assert.ok(!matches({ providers: ["*"] }, { command: "   " }));
});

test("every compared pattern counts as work, and a decision beyond the limit is refused", () => {
  const patterns = [{ exact: "a b" }, { prefix: "a b" }, { glob: "*a*b*" }];
  const policy = document(
    ...patterns.map((pattern, i) => rule(`r${i}`, "deny", { commands: [pattern] })),
    rule("last", "allow", { executors: ["*x*y*"] }),
  );
  const work = new StepBudget(10_000);
  evaluateWithin(policy, { command: "c", executor: "z".repeat(1_000) }, work);
  assert.ok(work.spent > 2_000, "the executor's length counts");
  assert.throws(
    () => evaluateWithin(policy, { command: "c".repeat(100_000) }, work),
    /takes more than 10,000 steps/,
  );
});

/** The words of a text, each with a space behind it. */
const inWords = (text: string): string => `${text.split(/\s+/).join(" ")} `;

/** What may be left of words without options in front, each with or without a value. */
function behindOptions([option, ...rest]: readonly string[]): readonly (readonly string[])[] {
  if (!option?.startsWith("-")) return [];
  const takesValue = !option.includes("=") && rest[0]?.startsWith("-") === false;
  const behind = [rest, ...behindOptions(rest)];
  return takesValue ? [...behind, rest.slice(1), ...behindOptions(rest.slice(1))] : behind;
}

/** The rules of evaluation in their plainest form. */
function naive(policy: PolicyDocument, command: Command) {
  const isTool = command.command === undefined;
  const text = command.command?.trim() ?? "";
  const words = text.split(/\s+/);
  const facts: Command = { provider: words[0] === "" ? undefined : words[0], ...command };
  const byText = (pattern: CommandPattern, one: string) =>
    ("exact" in pattern && pattern.exact === one) ||
    ("prefix" in pattern && inWords(one).startsWith(inWords(pattern.prefix))) ||
    ("glob" in pattern && matchesGlob(pattern.glob, one));
  const [program, ...rest] = words;
  const left = behindOptions(rest).filter((some) => some.length > 0);
  const suspected = [rest, ...left].map((some) => [program, ...some].join(" "));
  const byCommand = (pattern: CommandPattern, effect: Effect) =>
    [text, ...(effect === "deny" ? suspected : [])].some((one) => byText(pattern, one));
  const applying = policy.rules.filter(
    ({ enabled, effect, match }) =>
      enabled &&
      (!isTool || (!match.commands && (match.capabilities || match.providers))) &&
      (match.commands?.some((pattern) => byCommand(pattern, effect)) ?? true) &&
      GLOB_FIELDS.every((field) => {
        const value = facts[globFields[field]];
        const values = field === "providers" && effect === "deny" ? [value, words[0]] : [value];
        const isMet = (glob: string) =>
          values.some((one) => one !== undefined && one !== "" && matchesGlob(glob, one));
        return match[field]?.some(isMet) ?? true;
      }),
  );
  const deny = applying.find(({ effect }) => effect === "deny");
  const winner = deny ?? applying[0];
  const effect = winner?.effect ?? (isTool ? "allow" : policy.default);
  return {
    decision: effect === "allow" ? "ALLOWED" : "DENIED",
    rule: winner?.id ?? null,
    reason: winner?.reason ?? null,
  };
}

const word = fc.constantFrom("git", "push", "rm", "-rf", "-c=x");
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((some) => some.join(" "));
const glob = fc.constantFrom("*", "git*", "*rf", "r*", "push");
const pattern: fc.Arbitrary<CommandPattern> = fc.oneof(
  words.map((exact) => ({ exact })),
  words.map((prefix) => ({ prefix })),
  glob.map((some) => ({ glob: some })),
);
const globs = fc.array(fc.oneof(glob, word), { minLength: 1, maxLength: 2 });
const someMatch = fc.record(
  {
    commands: fc.array(pattern, { minLength: 1, maxLength: 2 }),
    providers: globs,
    capabilities: globs,
    consumers: globs,
    executors: globs,
    resources: globs,
  },
  { requiredKeys: [] },
);
const someRule = fc.record({
  id: fc.uuid(),
  effect: fc.constantFrom("allow" as const, "deny" as const),
  enabled: fc.boolean(),
  reason: fc.constantFrom("because", "why not"),
  match: someMatch,
});
const somePolicy = fc.record({
  default: fc.constantFrom("allow" as const, "deny" as const),
  rules: fc.array(someRule, { maxLength: 6 }),
  tests: fc.constant([]),
});
const someCommand = fc.record(
  {
    command: fc.oneof(words, fc.constant("  "), fc.constant(" git  push ")),
    provider: word,
    capability: word,
    consumer: word,
    executor: word,
    resource: word,
  },
  { requiredKeys: [] },
);

test("a given provider does not hide a program from a rule that denies it", () => {
  const policy: PolicyDocument = {
    default: "allow",
    rules: [rule("no-git", "deny", { providers: ["git"] })],
    tests: [],
  };
  const decision = (command: string) =>
    evaluate(policy, { command, provider: "mcp/shell" }).decision;
  for (const command of ["git push", "/usr/bin/git push", "true; git push", "env git push"]) {
    assert.equal(decision(command), "DENIED", command);
  }
  assert.equal(decision("ls git"), "ALLOWED");
});

test("an exception for a given provider excuses no program behind the first one", () => {
  const except: readonly RuleMatch[] = [{ providers: ["git"] }];
  const policy: PolicyDocument = {
    default: "allow",
    rules: [rule("agents", "deny", { consumers: ["ai"] }, { except })],
    tests: [],
  };
  // The service gives an event without a provider the first word of its command.
  for (const provider of [undefined, "git"]) {
    const decision = (command: string) =>
      evaluate(policy, { command, provider, consumer: "ai" }).decision;
    assert.equal(decision("git status; git log"), "ALLOWED");
    assert.equal(decision("git status; rm -rf x"), "DENIED");
    assert.equal(decision("git status $(rm -rf x)"), "DENIED");
  }
});

test("a provider that is the first word of the text decides like none", () => {
  const except: readonly RuleMatch[] = [{ commands: [{ prefix: "docker ps" }] }];
  const policy: PolicyDocument = {
    default: "allow",
    rules: [rule("no-docker", "deny", { providers: ["docker", "PATH*"] }, { except })],
    tests: [],
  };
  for (const [command, decision] of [
    ["docker ps && ls", "ALLOWED"],
    ["docker ps | grep web", "ALLOWED"],
    ["docker ps > ~/x", "ALLOWED"],
    ["docker ps && docker rm x", "DENIED"],
    ["docker rm x && docker ps", "DENIED"],
    ["docker ps $(docker rm x)", "DENIED"],
    ["PATH=/x docker ps; ls", "DENIED"],
  ] as const) {
    const provider = command.split(" ")[0];
    assert.equal(evaluate(policy, { command }).decision, decision, command);
    assert.equal(evaluate(policy, { command, provider }).decision, decision, command);
  }
});

test("a text that begins with the name of its tool decides like other texts of the tool", () => {
  const match: RuleMatch = { providers: ["mcp/box"], commands: [{ prefix: "rm" }] };
  const rules = [rule("no-rm", "deny", match)];
  const policy: PolicyDocument = { default: "allow", rules, tests: [] };
  const tool = { provider: "mcp/box", capability: "mcp/box/run" };
  for (const command of [
    "rm x",
    "ls; rm x",
    "mcp/box; rm x",
    "mcp/box ; rm x",
    "mcp/box || rm x",
  ]) {
    assert.equal(evaluate(policy, { command, ...tool }).decision, "DENIED", command);
  }
});

test("the first program that no rule allows is named, without its arguments", () => {
  const rules = [rule("read", "allow", { commands: [{ prefix: "git log" }, { prefix: "ls" }] })];
  const policy: PolicyDocument = { default: "deny", rules, tests: [] };
  for (const [command, program] of [
    ["git log | head -5", "head"],
    ["ls; timeout 5 /bin/cat x; rm y", "/bin/cat"],
    ["echo hunter2 | docker login --password-stdin", "echo"],
    ["ls; API_KEY=hunter2 ls", undefined],
    ["head -5", undefined],
    ["ls 'open", undefined],
    ["git log | ls", undefined],
  ] as const) {
    assert.equal(evaluate(policy, { command }).program, program, command);
    const open = evaluate({ ...policy, default: "allow" }, { command });
    assert.equal(open.program, undefined);
  }
});

test("a tool without a command is decided by rules about tools, and runs without one", () => {
  const policy = document(
    rule("people", "allow", { consumers: ["human"] }),
    rule("no-push", "deny", { commands: [{ glob: "*" }], capabilities: ["*"] }),
    rule("box", "deny", { capabilities: ["mcp/box/*"], executors: ["a*"] }),
    rule("mcp", "allow", { providers: ["mcp/*"] }),
  );
  const decided = (capability: string, executor: string) => {
    const provider = capability.replace(/\/[^/]*$/, "");
    const verdict = evaluate(policy, { capability, provider, executor, consumer: "human" });
    return [verdict.decision, verdict.rule];
  };
  assert.deepEqual(decided("mcp/box/run", "ada"), ["DENIED", "box"]);
  assert.deepEqual(decided("mcp/box/run", "bob"), ["ALLOWED", "mcp"]);
  assert.deepEqual(decided("claude-code/Edit", "ada"), ["ALLOWED", null]);
});

test("an exception for commands does not excuse a tool that runs none", () => {
  const patterns = [{ glob: "*" }, { exact: "" }, { prefix: "" }];
  for (const commands of patterns.map((one) => [one])) {
    const except = [{ commands, executors: ["ada"] }];
    const policy = document(rule("box", "deny", { capabilities: ["mcp/box/*"] }, { except }));
    const facts = { provider: "mcp/box", capability: "mcp/box/run", executor: "ada" };
    assert.equal(evaluate(policy, facts).rule, "box", JSON.stringify(commands));
  }
  const other = { commands: [{ glob: "*" }], capabilities: ["mcp/box/*"] };
  const except = [other, { providers: ["mcp/box"] }];
  const policy = document(rule("box", "deny", { capabilities: ["*"] }, { except }));
  const decided = (provider: string) =>
    evaluate(policy, { provider, capability: `${provider}/run` }).decision;
  assert.deepEqual([decided("mcp/box"), decided("mcp/other")], ["ALLOWED", "DENIED"]);
});

test("any policy decides any command like the plainest implementation", () => {
  fc.assert(
    fc.property(somePolicy, someCommand, (policy, command) => {
      assert.deepEqual(evaluate(policy, command), naive(policy, command));
    }),
    { numRuns: 2_000 },
  );
});

const EXCEPTED = rule(
  "no-push",
  "deny",
  { providers: ["git"] },
  { except: [{ commands: [{ prefix: "git status" }, { exact: "git push; git push -f" }] }] },
);

test("an exception excuses the commands that it matches, and no other one beside them", () => {
  const policy: PolicyDocument = { default: "allow", rules: [EXCEPTED], tests: [] };
  const decision = (command: string) => evaluate(policy, { command }).decision;
  for (const command of [
    "git status",
    "git status -s",
    "git push; git push -f",
    "ls; git status",
  ]) {
    assert.equal(decision(command), "ALLOWED", command);
  }
  for (const command of [
    ...["git push", "git status; git push", "git status $(git push)", "git push; git push -f x"],
    ...["git status 'open", "git status && (", "timeout 5 git push"], // some cannot be split
  ]) {
    assert.equal(decision(command), "DENIED", command);
  }
});

test("an exception needs all of its keys, and lifts its own rule only", () => {
  const except: readonly RuleMatch[] = [{ executors: ["ada"], resources: ["dev/*"] }];
  const policy: PolicyDocument = {
    default: "allow",
    rules: [
      rule("first", "deny", { consumers: ["ai"] }, { except }),
      rule("second", "deny", { commands: [{ prefix: "rm" }] }),
    ],
    tests: [],
  };
  const ruleFor = (command: string, executor: string, resource: string) =>
    evaluate(policy, { command, executor, resource, consumer: "ai" }).rule;
  assert.equal(ruleFor("ls", "ada", "dev/x"), null);
  assert.equal(ruleFor("ls 'open", "ada", "dev/x"), null); // says nothing about the text
  assert.equal(ruleFor("ls", "bob", "dev/x"), "first");
  assert.equal(ruleFor("ls", "ada", "prod/x"), "first");
  assert.equal(ruleFor("rm x", "ada", "dev/x"), "second");
});

test("the first rule without an exception for the command is reported", () => {
  const policy = document(
    { ...EXCEPTED, id: "excused" },
    rule("plain", "deny", { commands: [{ prefix: "git status" }] }),
  );
  assert.equal(evaluate(policy, { command: "git status" }).rule, "plain");
  assert.equal(evaluate(policy, { command: "git status 'open" }).rule, "excused");
});

test("each exception counts as work, although its rule does not match", () => {
  const except = Array.from({ length: 1_000 }, () => ({ commands: [{ glob: "*.ts" }] }));
  const policy = document(rule("r", "deny", { commands: [{ exact: "rm" }] }, { except }));
  const work = new StepBudget(Infinity);

  evaluateWithin(policy, { command: "ls" }, work);

  assert.ok(work.spent >= COMPARISON_STEPS * except.length, `${work.spent} steps`);
});

test("a rule is taken apart once for all documents that have it", () => {
  let reads = 0;
  const match = {
    get commands() {
      reads++;
      return [{ glob: "*a*b*" }];
    },
  };
  const shared = rule("shared", "allow", match);
  const other = rule("other", "deny", { commands: [{ exact: "ab" }] });
  assert.equal(evaluate(document(shared), { command: "ab" }).rule, "shared");
  const before = reads;
  assert.equal(evaluate(document(other, shared), { command: "aab" }).rule, "shared");
  assert.equal(reads, before);
});
