/** The events of a guard can be decided again by any policy. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../support/start.ts";
import { syncedMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const app = await start({ after });
const rule = (id: string, match: string) => `  - { id: ${id}, effect: deny, match: ${match} }\n`;
const yaml = `schema: signalbox/policy/v1
default: deny
rules:
  - { id: reads, effect: allow, match: { commands: [{ prefix: ls }] } }
${rule("no-edits", "{ capabilities: [claude-code/Edit] }")}`;
await app.post("/api/public/policies", { version: "v1", yaml });

const USES = [
  ["Bash", { command: "ls -a" }],
  ["Bash", { command: "git push" }],
  ["Edit", { file_path: "/etc/hosts" }],
  ["Read", { file_path: "/etc/hosts" }],
  ["mcp__box__list", { path: "/srv" }],
  ["mcp__box__run", { command: "ls -a" }],
  ["mcp__files__read", { file_path: "/tmp/x", path: "/etc/shadow" }],
] as const;

/** The guard has the time of the machine, and the service has that of the test. */
const EVER = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };

test("a replay decides each event of a guard as the guard did, and as it would by another policy", async (t) => {
  const machine = await syncedMachine(t, app.url);
  const codes: (number | null)[] = [];
  for (const [at, [tool_name, tool_input]] of USES.entries()) {
    const payload = { ...RECORDED[0]?.payload, tool_name, tool_input, tool_use_id: `use-${at}` };
    codes.push((await machine.hook("claude-code", payload)).code);
  }
  assert.deepEqual(codes, [0, 2, 2, 0, 0, 0, 0]);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  assert.equal((await machine.run(["sync"])).code, 0);
  const replay = async (body: object) => {
    const { evaluated, newly_denied, newly_allowed, not_replayable, examples } = (
      await app.post("/api/public/policies/replay", { ...body, ...EVER })
    ).body as {
      [count: string]: unknown;
      examples: { event: { command?: string; capability?: string }; rule: string }[];
    };
    const changed = examples.map(({ event, rule: by }) => [event.command ?? event.capability, by]);
    return [evaluated, newly_denied, newly_allowed, not_replayable, changed.sort()];
  };
  const undecided = [{ reason: "no_decision", events: 3 }]; // no rule is about them, so the guard only reports them
  assert.deepEqual(await replay({ yaml, base: "recorded" }), [4, 0, 0, undecided, []]);
  const stricter = `${yaml}${rule("box", "{ capabilities: [mcp/box/*] }")}${rule(
    "secrets",
    "{ capabilities: ['*'], resources: [/etc/shadow] }",
  )}${rule("reading", "{ capabilities: [claude-code/Read] }")}`;
  assert.deepEqual(await replay({ yaml: stricter }), [
    ...[6, 3, 0, [{ reason: "resource_missing", events: 1 }]],
    [
      ["claude-code/Read", "reading"],
      ["ls -a", "box"],
      ["mcp/box/list", "box"],
    ],
  ]);
});
