import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  AGENT_SETTINGS,
  hookCommand,
  type JsonObject,
  withHooks,
} from "../../src/guard/agent-settings.ts";
import { commandLine } from "../../src/guard/setup.ts";

const foreign = { hooks: [{ type: "command", command: "lint" }], matcher: "Bash" };

for (const [agent, settings] of AGENT_SETTINGS) {
  const line = `"/usr/bin/node" "/opt/signalbox/dist/guard/main.cjs" hook ${agent}`;
  const [event = ""] = settings.events;
  const before: JsonObject = { model: "x", hooks: { [event]: [foreign], Stop: [foreign] }, z: [1] };

  test(`${agent}: hooks are added to existing settings, and a second setup changes nothing`, () => {
    const once = withHooks(before, agent, settings, line);
    assert.deepEqual(once["model"], "x");
    assert.equal(hookCommand(once, agent), line);
    const { hooks } = once as { readonly hooks: Record<string, readonly unknown[]> };
    assert.deepEqual([hooks[event]?.[0], hooks["Stop"]], [foreign, [foreign]]);
    for (const name of settings.events) assert.equal(hooks[name]?.length, name === event ? 2 : 1);
    assert.deepEqual(withHooks(once, agent, settings, line), once);
  });

  test(`${agent}: a hook of another version is replaced, and removal keeps the other settings`, () => {
    const once = withHooks(before, agent, settings, line);
    const newer = withHooks(once, agent, settings, line.replace("/opt/", "/srv/"));
    assert.ok(!JSON.stringify(newer).includes("/opt/"));
    const removed = withHooks(newer, agent, settings, undefined);
    assert.deepEqual({ ...settings.root, ...before }, { ...settings.root, ...removed });
    assert.equal(hookCommand(removed, agent), undefined);
  });

  test(`${agent}: a hook that the user adds to the guard's own group stays`, () => {
    const own = withHooks({}, agent, settings, line);
    const groups = (own["hooks"] as Record<string, readonly JsonObject[]>)[event] ?? [];
    const group = groups[0]?.["hooks"];
    if (!Array.isArray(group)) return; // this agent has no groups
    group.push({ type: "command", command: "scan-secrets" });
    const again = withHooks(own, agent, settings, line.replace("/opt/", "/srv/"));
    assert.match(JSON.stringify(again), /scan-secrets/);
    assert.ok(!JSON.stringify(again).includes("/opt/"));
    assert.deepEqual(withHooks(again, agent, settings, line.replace("/opt/", "/srv/")), again);
    const removed = withHooks(again, agent, settings, undefined);
    assert.match(JSON.stringify(removed), /scan-secrets/);
    assert.equal(hookCommand(removed, agent), undefined);
  });
}

test("the command line of a hook starts the program, whatever is in its path", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-hook-"));
  t.after(() => rm(folder, { recursive: true }));
  const program = join(folder, "a \"$HOME`id`\\$(id)'b.cjs");
  await writeFile(program, "console.log(process.argv.slice(2).join())");
  const machine = { env: {}, now: () => 0, version: "1", program, out() {}, error() {} };
  const line = commandLine(machine, "claude-code", {});
  assert.equal(execFileSync(line, { shell: true, encoding: "utf8" }), "hook,claude-code\n");
  assert.equal(
    hookCommand({ hooks: { x: [{ hooks: [{ command: line }] }] } }, "claude-code"),
    line,
  );
});
