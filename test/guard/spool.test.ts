/** The guard's spool on bad disks, and while other processes use it. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { HALF_SPOOL_BYTES } from "../../src/guard/spool.ts";
import { fill, mountTmpfs } from "../support/small-disks.ts";
import { type Scope, start } from "../support/start.ts";
import { send, syncedMachine } from "./guard-process.ts";
import { RECORDED } from "./recorded-payloads.ts";

const app = await start({ after });
const yaml = `schema: signalbox/policy/v1
default: allow
rules: [{ id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }]
`;
await app.post("/api/public/policies", { version: "v1", yaml });

const synced = (t: Scope, more: Record<string, string> = {}) => syncedMachine(t, app.url, more);
const push = RECORDED[0]?.payload;
const withCommand = (command: string) => ({ ...push, tool_input: { command } });

test("damaged lines are counted, even if the service is away when they are found", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "torn-away" });
  writeFileSync(join(machine.directory, "spool.jsonl"), '{"id":"a","comm');
  await machine.hook("claude-code", { ...withCommand("ls"), tool_use_id: "torn-away" });
  const { RUNTIME_PORTAL_BASE_URL: url = "" } = machine.env;
  const away = { RUNTIME_PORTAL_BASE_URL: "http://127.0.0.1:9", RUNTIME_PORTAL_ENABLED: "true" };
  Object.assign(machine.env, away);
  assert.equal((await machine.run(["sync"])).code, 1);
  machine.env["RUNTIME_PORTAL_BASE_URL"] = url;
  await send(machine);
  await send(machine);
  const { body } = await app.get("/api/public/audit?runtime=torn-away");
  assert.equal(body.total, 2);
});

test("a command and a tool's target that are longer than the service stores are reported, cut", async (t) => {
  const machine = await synced(t, { GUARD_NAME: "long-texts" });
  const padded = `mysql -phunter2 ${"-pa9 ".repeat(300_000)}; git push`;
  const denied = await machine.hook("claude-code", { ...withCommand(padded), tool_use_id: "long" });
  assert.equal(denied.code, 2);
  const url = `https://example.com/${"é".repeat(70_000)}`;
  const tool = { tool_name: "WebFetch", tool_input: { url }, tool_use_id: "far" };
  await machine.hook("claude-code", { ...push, ...tool });
  await send(machine);
  const { text } = await app.get("/api/public/audit/export?runtime=long-texts");
  const [fetched, command] = text.split("\n", 2).map((line) => JSON.parse(line));
  const kept = "mysql -p[redacted:mysql-password] -p[redacted:mysql-password] ";
  assert.equal(command.command.slice(0, kept.length), kept);
  assert.ok(Buffer.byteLength(command.command) <= 1 << 20);
  assert.equal(command.policy_decision, "DENIED");
  assert.equal(command.message, "too long, and cut: command");
  assert.ok(url.startsWith(fetched.resource));
  assert.equal(Buffer.byteLength(fetched.resource), 64 << 10);
  assert.equal(fetched.message, "too long, and cut: resource");
});

test("a full disk stops no command and no sending, and keeps no files of failed writes", async (t) => {
  const disk = await mountTmpfs(t, 1);
  if (disk === undefined) return;
  const directory = join(disk, "guard");
  const machine = await synced(t, { GUARD_NAME: "full-disk", GUARD_DIR: directory });
  await machine.hook("claude-code", { ...withCommand("ls"), tool_use_id: "full-1" });
  await fill(join(disk, "filling"), 0);
  const long = await machine.hook("claude-code", withCommand(`echo ${"x".repeat(5_000)}`));
  assert.equal(long.code, 0);
  assert.match(long.error, /the event cannot be kept/);
  assert.equal((await machine.hook("claude-code", push)).code, 2);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  assert.match((await machine.run(["sync"])).error, /ENOSPC/);
  const { body } = await app.get("/api/public/audit?runtime=full-disk&q=ls");
  assert.equal(body.total, 1);
  assert.deepEqual(readdirSync(directory).sort(), ["policy.json", "spool.jsonl"]);
});

test("of guards that find the spool full at the same time, one drops the oldest events", async (t) => {
  const machine = await synced(t);
  const [older, current] = ["spool.older.jsonl", "spool.jsonl"].map((name) =>
    join(machine.directory, name),
  ) as [string, string];
  const line = '{"id":"old"}\n';
  const count = Math.floor(HALF_SPOOL_BYTES / line.length); // counting these lines takes time
  writeFileSync(older, line.repeat(count));
  writeFileSync(current, `{"id":"new","pad":"${"x".repeat(HALF_SPOOL_BYTES)}"}\n`);
  const commands = ["ls 1", "ls 2", "ls 3", "ls 4", "ls 5", "ls 6"];
  await Promise.all(
    commands.map((command) => machine.hook("claude-code", { ...withCommand(command) })),
  );
  assert.match(readFileSync(older, "utf8").slice(0, 20), /"id":"new"/);
  const kept = readFileSync(older, "utf8") + readFileSync(current, "utf8");
  for (const command of commands) assert.ok(kept.includes(`"command":"${command}"`), command);
  const notes = kept.match(/The spool was full: the \d+ oldest events were dropped/g);
  assert.deepEqual(notes, [`The spool was full: the ${count} oldest events were dropped`]);
  assert.ok(!existsSync(join(machine.directory, "spool.lock")));
});

test("a lock that another process is about to write is respected", async (t) => {
  const machine = await synced(t);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  writeFileSync(join(machine.directory, "sync.lock"), "");
  await machine.run(["sync", "--quiet"]);
  assert.ok(existsSync(join(machine.directory, "sync.lock")));
});
