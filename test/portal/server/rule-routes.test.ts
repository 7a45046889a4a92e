/** The rules of a version, and the commands that one of them decides. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../../support/start.ts";

const YAML = `schema: signalbox/policy/v1
default: deny
rules:
  - id: read
    effect: allow
    description: Looking is free
    match: { commands: [{ prefix: git status }] }

  # Pushing is for pipelines.
  - id: no-push
    effect: deny
    reason: Pipelines push
    match:
      commands:
        - prefix: git push
  - id: off
    enabled: false
    effect: deny
    match: { commands: [{ prefix: git }] }
`;

const app = await start({ after });
const event = (command: string, decision: string, minutes: number, more: object = {}) => ({
  ...{ command, policy_decision: decision, executor: "ada", ...more },
  timestamp: new Date(app.now - minutes * 60_000).toISOString(),
});
await app.post("/api/v1/policies", { version: "v1", yaml: YAML });
await app.post("/api/v1/policies", { version: "other", yaml: "anything: goes" });
await app.post("/api/v1/audit", {
  events: [
    event("git push origin main", "DENIED", 1, { policy: "v0" }),
    event("cd web && git push", "DENIED", 2),
    event("rm -rf /", "DENIED", 3),
    event("git push", "ALLOWED", 4),
    event(`git push ${"x".repeat(2_000)}`, "DENIED", 5),
    event("git status", "ALLOWED", 6),
    event("git push", "DENIED", -60),
  ],
});
const rulesOf = async (version: string, search = "") =>
  (await app.get(`/api/public/policies/${version}/rules${search}`)).body;

test("the rules of a version are listed with their lines", async () => {
  assert.deepEqual(await rulesOf("v1"), {
    version: "v1",
    rules: [
      {
        ...{ id: "read", effect: "allow", description: "Looking is free" },
        ...{ enabled: true, line: 4, end_line: 7 },
      },
      {
        ...{ id: "no-push", effect: "deny", reason: "Pipelines push" },
        ...{ enabled: true, line: 10, end_line: 15 },
      },
      { id: "off", effect: "deny", enabled: false, line: 16, end_line: 19 },
    ],
  });
  assert.deepEqual(await rulesOf("other"), { version: "other", rules: [] });
  assert.equal((await app.get("/api/public/policies/none/rules")).status, 404);
});

test("a repeated command is decided once, so that a costly policy reaches older commands", async (t) => {
  const own = await start(t);
  const costly = `${"a*".repeat(60)}b`;
  const globs = Array.from({ length: 30 }, (_, i) => `{ glob: "${costly}${i}*" }`).join(", ");
  const yaml = `schema: signalbox/policy/v1
default: deny
rules:
  - id: never
    effect: deny
    match: { commands: [${globs}] }
`;
  await own.post("/api/v1/policies", { version: "v1", yaml });
  const command = "a".repeat(400);
  const same = Array.from({ length: 500 }, () => ({ command, policy_decision: "DENIED" }));
  await own.post("/api/v1/audit", { events: same });
  const { commands } = (await own.get("/api/public/policies/v1/rules?rule=never")).body;
  assert.equal(commands.looked_at, 500);
});

test("the commands of a rule are the newest events that the version decides by it", async () => {
  const { commands } = await rulesOf("v1", "?rule=no-push");
  const found = commands.events.map(({ command }: { command: string }) => command);
  assert.deepEqual(found, ["git push origin main", "cd web && git push"]);
  assert.equal(commands.looked_at, 3);
  assert.equal(commands.times.length, 2);
  assert.equal(Date.parse(commands.since), app.now - 3 * 60_000);
  const reading = (await rulesOf("v1", "?rule=read")).commands;
  assert.equal(reading.looked_at, 2);
  assert.equal(reading.events.length, 1);
  assert.deepEqual((await rulesOf("v1", "?rule=off")).commands.events, []);
  assert.equal((await rulesOf("v1", "?rule=none")).commands, undefined);
});

test("a tool that may act on several resources is found by the rule about one of them", async (t) => {
  const own = await start(t);
  const yaml = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: shadow, effect: deny, match: { capabilities: ["*"], resources: [/etc/shadow] } }
`;
  await own.post("/api/v1/policies", { version: "v1", yaml });
  const tool = { capability: "mcp/files/read", runtime_version: "guard 1" };
  const events = [
    ["/tmp/x\n/etc/shadow", "DENIED"],
    ["/tmp/x\n/etc/passwd", "DENIED"],
  ].map(([resource, policy_decision]) => ({ ...tool, resource, policy_decision }));
  await own.post("/api/v1/audit", { events });
  const { commands } = (await own.get("/api/public/policies/v1/rules?rule=shadow")).body;
  assert.equal(commands.looked_at, 2);
  const resources = commands.events.map(({ resource }: { resource: string }) => resource);
  assert.deepEqual(resources, ["/tmp/x\n/etc/shadow"]);
});

test("a rule ends before the next one, also with a comment at its end", async (t) => {
  const own = await start(t);
  const yaml = `schema: signalbox/policy/v1
rules:
  - id: first
    effect: deny
    match:
      capabilities: [mcp/box/run]
      # consumers: [ai]

  - id: second
    effect: deny
    match: {} # all
`;
  await own.post("/api/v1/policies", { version: "v1", yaml });
  const { rules } = (await own.get("/api/public/policies/v1/rules")).body;
  const lines = rules.map((rule: Record<string, unknown>) => [rule["line"], rule["end_line"]]);
  assert.deepEqual(lines, [
    [3, 7],
    [9, 11],
  ]);
});
