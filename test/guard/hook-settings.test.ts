/** The settings that a hook has when its agent is started without the environment of `guard setup`. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { hookCommand } from "../../src/guard/agent-settings.ts";
import { start } from "../support/start.ts";
import { type GuardMachine, newMachine } from "./guard-process.ts";

const PUSH = {
  ...{ session_id: "s1", hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "t1" },
  tool_input: { command: "npm test && git push" },
};
const app = await start({ after });
const yaml =
  "schema: signalbox/policy/v1\ndefault: allow\nrules:\n  - { id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }\n";
await app.post("/api/public/policies", { version: "v1", yaml });

/** The exit code of the hook in a file, as an agent runs it whose environment has nothing of the guard's settings. */
function runHook(
  { home, env }: GuardMachine,
  path: string,
  more: Readonly<Record<string, string>> = {},
): number | null {
  const command = hookCommand(JSON.parse(readFileSync(path, "utf8")), "claude-code") ?? "";
  return spawnSync(command, {
    shell: true,
    cwd: home,
    input: JSON.stringify(PUSH),
    env: { PATH: env["PATH"], HOME: home, ...more },
  }).status;
}

for (const [variable, value] of [
  ["GUARD_DIR", "relative/gu$ard `a"],
  ["XDG_STATE_HOME", undefined],
] as const) {
  test(`a hook finds the directory that ${variable} named at setup`, async (t) => {
    const machine = await newMachine(t, {
      GUARD_FAIL: "closed",
      RUNTIME_PORTAL_BASE_URL: app.url,
      RUNTIME_PORTAL_ENABLED: "true",
    });
    delete machine.env["GUARD_DIR"];
    machine.env[variable] = value ?? join(machine.home, "state");
    assert.equal((await machine.run(["setup", "claude-code"])).code, 0);
    const path = join(machine.home, ".claude/settings.json");
    assert.equal(runHook(machine, path), 2);
    const well = await machine.run(["doctor"]);
    assert.equal(well.code, 0, well.out);
    assert.match(well.out, /ok +claude-code: hook in .* answers/);

    delete machine.env[variable];
    const other = await machine.run(["doctor"]);
    assert.equal(other.code, 1);
    assert.match(other.out, /bad +claude-code: hook in .* starts this guard with other settings/);
  });
}

test("a hook that does not know the directory of doctor is not well", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  assert.equal((await machine.run(["setup", "claude-code"])).code, 0);
  const path = join(machine.home, ".claude/settings.json");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll(/ --env \\"[^"]*\\"/g, ""));
  assert.notEqual(readFileSync(path, "utf8"), text);
  const { code, out } = await machine.run(["doctor"]);
  assert.deepEqual([code, /starts this guard with other settings/.test(out)], [1, true], out);
});

test("a hook in managed settings keeps mode, service and directory, whatever the agent's environment says", async (t) => {
  const machine = await newMachine(t, {
    GUARD_FAIL: "closed",
    RUNTIME_PORTAL_BASE_URL: app.url,
  });
  delete machine.env["GUARD_DIR"];
  const path = join(machine.home, "managed.json");
  assert.equal((await machine.run(["setup", "claude-code", "--managed", path])).code, 0);
  const away = "http://127.0.0.1:1";
  for (const more of [
    {},
    { GUARD_MODE: "observe" },
    { GUARD_DIR: join(machine.home, "empty"), GUARD_FAIL: "open" },
    { XDG_STATE_HOME: join(machine.home, "other"), GUARD_FAIL: "open" },
    { RUNTIME_PORTAL_BASE_URL: away, RUNTIME_PORTAL_PATH_PREFIX: "/x", GUARD_FAIL: "open" },
  ]) {
    assert.equal(runHook(machine, path, more), 2, JSON.stringify(more));
  }
  const { code, out } = await machine.run(["doctor"]);
  assert.equal(code, 0, out);
  assert.match(out, /ok +claude-code: hook in .*managed\.json answers/);
  assert.doesNotMatch(out, /no agent has hooks/);
  writeFileSync(join(machine.home, ".local/state/signalbox-guard/settings.json"), "{");
  assert.match((await machine.run(["doctor"])).out, /bad +settings.json: cannot be read/);
});

test("the password in an address is not written into managed settings", async (t) => {
  const machine = await newMachine(t, {
    RUNTIME_PORTAL_BASE_URL: "http://ada:pass-word@127.0.0.1:1",
  });
  const { out } = await machine.run(["setup", "claude-code", "--managed", "x", "--print"]);
  assert.match(out, /GUARD_MODE=enforce/);
  assert.doesNotMatch(out, /pass-word/);
});

test("in the default directory the command line of a hook has no settings", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  delete machine.env["GUARD_DIR"];
  const { out } = await machine.run(["setup", "claude-code", "--print"]);
  assert.match(out, / hook claude-code/);
  assert.doesNotMatch(out, /--env/);
});

test("settings in the command line are taken in front of hook only", async (t) => {
  const machine = await newMachine(t);
  for (const command of ["exec", "sync", "doctor", "guard"]) {
    const args = ["--env", "GUARD_MODE=observe", command, "--", "echo", "ran"];
    const { code, out, error } = await machine.run(args);
    assert.deepEqual([code, out], [1, ""], command);
    assert.match(error, /^signalbox guard: --env: expected hook behind it, found .*NAME=VALUE\n$/);
  }
  const none = await machine.run(["--env", "GUARD_MODE=observe"]);
  assert.match(none.error, /found no command: set the variable/);
});

test("setup says that the file of a project, which is often committed, has paths of this machine", async (t) => {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: app.url });
  const said = /: changed\n.* paths of this machine: do not commit that file; run setup on each/;
  for (const [agent, where, isSaid] of [
    ["claude-code", "--project", true],
    ["codex", "--user", false],
    ["cursor", "--managed=hooks.json", false],
    ["claude-code", "--remove", false],
  ] as const) {
    const { code, out } = await machine.run(["setup", agent, where]);
    assert.deepEqual([code, said.test(out)], [0, isSaid], out);
    assert.match(out, /: changed\n/);
  }
});
