/** The guard where its files are not files, or far too large: no command may wait, and no memory may be filled. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { start } from "../support/start.ts";
import { syncedMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const app = await start({ after });
const yaml = String.raw`schema: signalbox/policy/v1
default: allow
rules: [{ id: no-push, effect: deny, reason: "never\e[2J\nhere", match: { commands: [{ prefix: git push }] } }]
`;
await app.post("/api/public/policies", { version: "v1", yaml });

const HUGE = 3 * 2 ** 30;
const push = RECORDED[0]?.payload;

function pipeAt(path: string): void {
  rmSync(path, { force: true });
  execFileSync("mkfifo", ["-m", "600", path]);
}

test("a pipe in the place of the policy is no policy, and is replaced by the next one", async (t) => {
  const machine = await syncedMachine(t, app.url);
  pipeAt(join(machine.directory, "policy.json"));

  assert.equal((await machine.run(["exec", "--", "true"])).code, 0);
  assert.match(
    (await machine.run(["doctor"])).out,
    /policy cannot be read: .* is not a regular file/,
  );
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  assert.equal((await machine.run(["sync"])).code, 0);
  assert.equal((await machine.hook("claude-code", push)).code, 2);
});

test("a policy of gigabytes is not read", async (t) => {
  const machine = await syncedMachine(t, app.url, { GUARD_FAIL: "closed" });
  truncateSync(join(machine.directory, "policy.json"), HUGE);

  const { code, error } = await machine.run(["exec", "--", "true"]);

  assert.equal(code, 126);
  assert.match(error, /policy cannot be read: .* has more than 64 MiB/);
});

for (const [what, etag] of [
  ["is no header value", "a\nb"],
  ["is missing", undefined],
] as const) {
  test(`a policy whose entity tag ${what} is damaged, and is fetched again`, async (t) => {
    const machine = await syncedMachine(t, app.url);
    const path = join(machine.directory, "policy.json");
    const policy = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...policy, etag }));

    assert.match((await machine.run(["doctor"])).out, /the policy file is damaged/);
    machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
    assert.equal((await machine.run(["sync"])).code, 0);
    assert.equal((await machine.hook("claude-code", push)).code, 2);
  });
}

test("no command waits for the reader of a pipe in the place of the spool", async (t) => {
  const machine = await syncedMachine(t, app.url);
  pipeAt(join(machine.directory, "spool.jsonl"));

  const { code, error } = await machine.run(["exec", "--", "true"]);

  assert.equal(code, 0);
  assert.match(error, /the event cannot be kept: ENXIO/);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  assert.match((await machine.run(["sync"])).error, /spool.sending.jsonl" is not a regular file/);
});

test("no refusal waits for the reader of a pipe in the place of the time of the synchronisation", async (t) => {
  const machine = await syncedMachine(t, app.url);
  const path = join(machine.directory, "last-sync");
  pipeAt(path);
  utimesSync(path, 0, 0);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";

  const { ended, kill } = machine.launch(["exec", "--", "git", "push"]);
  const timer = setTimeout(kill, 5_000);
  t.after(() => clearTimeout(timer));

  assert.equal((await ended).code, 126);
});

test("no event is written to where a link in the place of the spool leads", async (t) => {
  const machine = await syncedMachine(t, app.url);
  const path = join(machine.directory, "spool.jsonl");
  const other = join(machine.home, "other");
  rmSync(path, { force: true });
  writeFileSync(other, "kept");
  symlinkSync(other, path);

  const { code, error } = await machine.run(["exec", "--", "true"]);

  assert.equal(code, 0);
  assert.match(error, /the event cannot be kept: ELOOP/);
  assert.equal(readFileSync(other, "utf8"), "kept");
});

test("a file of the spool that no guard can have written is dropped and reported", async (t) => {
  const machine = await syncedMachine(t, app.url, { GUARD_NAME: "huge-spool" });
  const path = join(machine.directory, "spool.sending.jsonl");
  writeFileSync(path, "", { mode: 0o600 });
  truncateSync(path, HUGE);

  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  assert.equal((await machine.run(["sync"])).code, 0);
  assert.equal((await machine.run(["sync"])).code, 0);

  const { body } = await app.get("/api/public/audit?runtime=huge-spool&status=note");
  assert.equal(body.total, 1);
});

test("settings of a project that lead to a device are not read", async (t) => {
  const machine = await syncedMachine(t, app.url);
  mkdirSync(join(machine.home, ".claude"));
  symlinkSync("/dev/zero", join(machine.home, ".claude", "settings.json"));

  assert.match((await machine.run(["doctor"])).out, /settings.json" is not a regular file/);
  const { code, error } = await machine.run(["setup", "claude-code", "--project"]);
  assert.deepEqual([code, /settings.json" is not a regular file/.test(error)], [1, true]);
});

test("a reason keeps its lines, and cannot control a terminal", async (t) => {
  const machine = await syncedMachine(t, app.url);

  const { error } = await machine.run(["exec", "--", "git", "push"]);
  const hook = await machine.hook("claude-code", push);

  assert.equal(error, "signalbox guard: denied: rule no-push: never\\u001b[2J\nhere\n");
  assert.equal(hook.error, "Denied by Signalbox: rule no-push: never\\u001b[2J\nhere\n");
});
