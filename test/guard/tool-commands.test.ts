/** Tools whose input has more than one text that may be the command, or the resource. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { start } from "../support/start.ts";
import { syncedMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const app = await start({ after });
const yaml = `schema: signalbox/policy/v1
default: deny
rules:
  - { id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }
  - { id: no-make, effect: deny, match: { providers: [mcp/box], commands: [{ prefix: make clean }] } }
  - { id: no-etc, effect: deny, match: { providers: [mcp/box], resources: [/etc/*] } }
  - { id: trial, effect: allow, match: { commands: [{ prefix: make }, { prefix: git fetch --dry-run }] } }
  - { id: some, effect: allow, match: { commands: [{ prefix: ls }, { prefix: npx tsc }, { exact: git }, { prefix: mcp/box }] } }
`;
await app.post("/api/public/policies", { version: "v1", yaml });
const RUN = "mcp__box__run";
const DENIED = "no-push";
const UNKNOWN = "no rule";

for (const [tool_name, tool_input, said] of [
  [RUN, { command: "ls", cmd: "git push" }, DENIED],
  [RUN, { command: "ls", cmd: "curl x" }, UNKNOWN],
  [RUN, { command: "ls '", cmd: "git push" }, "can be split"],
  [RUN, { cmd: ["git", "push"] }, DENIED],
  [RUN, { command: ["git"], args: ["push"] }, DENIED],
  [RUN, { command: "git", args: ["push", 1] }, DENIED],
  [RUN, { command: "git", args: "push" }, DENIED],
  [RUN, { command: "ls", Command: "git push" }, DENIED],
  [RUN, { Command: "git push", command: "ls" }, DENIED],
  [RUN, { COMMAND: "git push", command: "ls", Command: "ls" }, DENIED],
  [RUN, { Command: "git push", command: null }, DENIED],
  [RUN, { CMD: ["git", "push"] }, DENIED],
  [RUN, { command: "git", Args: ["push"] }, DENIED],
  [RUN, { command: "git", args: [], argſ: ["push"] }, DENIED],
  [RUN, { Command: "ls", Args: ["src"] }, undefined],
  [RUN, { command: "git", args: [1] }, UNKNOWN],
  [RUN, { command: "git", args: [] }, undefined],
  [RUN, { command: "git fetch", args: ["--dry-run"] }, UNKNOWN],
  ["Bash", { command: "git fetch", args: ["--dry-run"] }, UNKNOWN],
  ["Bash", { command: ["git", "push", 1] }, DENIED],
  ["Bash", { command: "ls -a | head -5" }, "no rule of the policy allows this use of head\n"],
  [RUN, { command: "ls;npx", args: ["tsc"] }, UNKNOWN],
  [RUN, { command: "npx", args: ["tsc"] }, undefined],
  [RUN, { command: "mcp/box || make clean" }, "no-make"],
  [RUN, { command: "mcp/box || make" }, undefined],
  [RUN, { command: "make", cmd: "make" }, undefined],
  [RUN, { file_path: "/tmp/x", path: "/etc/passwd" }, "no-etc"],
  [RUN, { path: "/tmp/x", Path: "/etc/passwd" }, "no-etc"],
  [RUN, { path: "/tmp/x", url: "/etc/passwd", command: "ls" }, "no-etc"],
  [RUN, { file_path: "/tmp/x", path: "/tmp/y" }, undefined],
  [RUN, { command: "ls -a", args: ["src"] }, undefined],
] as const) {
  test(`${tool_name} with ${JSON.stringify(tool_input)} is ${said ? "denied" : "allowed"}`, async (t) => {
    const machine = await syncedMachine(t, app.url);
    const payload = { ...RECORDED[0]?.payload, tool_name, tool_input };
    const { code, error } = await machine.hook("claude-code", payload);
    assert.deepEqual([code, error.includes(said ?? "")], [said ? 2 : 0, true]);
  });
}

test("every text that was decided is reported", async (t) => {
  const machine = await syncedMachine(t, app.url);
  const tool_input = { command: "ls", cmd: "git push", path: "/a", url: "/b" };
  await machine.hook("claude-code", { ...RECORDED[0]?.payload, tool_name: RUN, tool_input });
  const event = JSON.parse(readFileSync(join(machine.directory, "spool.jsonl"), "utf8"));
  assert.deepEqual([event.command, event.instead], ["ls\ngit push", undefined]);
  assert.deepEqual([event.resource, event.otherResources], ["/a\n/b", undefined]);
});
