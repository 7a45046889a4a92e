/** The files that requests leave in the data directory. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { DAY_MS } from "../../src/core/clock.ts";
import { startSignalbox } from "../../src/index.ts";
import type { Answer, SentHeaders } from "../support/client.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

const AUDIT = "/api/public/audit";

/** The total size of all files below a directory. */
async function bytesBelow(directory: string): Promise<number> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile());
  const sizes = files.map(
    async ({ parentPath, name }) => (await stat(join(parentPath, name))).size,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

async function newestEntry(app: App, headers?: SentHeaders): Promise<Answer["body"]> {
  return (await app.get("/api/v1/activity?limit=1", headers)).body.entries[0];
}

test("nothing but a hash of a key is on disk", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const { key } = await app.createKey("hashed", admin);
  const files = await readdir(app.dataDir, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")),
  );
  const all = texts.join("\n");
  const text = String(key["x-api-key"]);
  assert.ok(!all.includes(text.slice(12)));
  const hash = createHash("sha256").update(text).digest();
  assert.ok(all.includes(hash.toString("hex")) || all.includes(hash.toString("base64url")));
});

test("only the owner can read the files, and records name their organization", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const other = await app.createOrganization("Acme", await app.asUser(ADMIN));
  for (const version of ["v1", "v2", "v3"]) {
    await app.post("/api/v1/policies", { version, yaml: "a: 1" }, other.admin);
  }
  await app.post("/api/v1/audit", { events: [{ command: "ls" }, { ai: true }] }, other.admin);
  const entries = await readdir(app.dataDir, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const { mode } = await stat(join(entry.parentPath, entry.name));
    assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name);
  }
  const folder = join(app.dataDir, "organizations", other.id);
  const log = await readFile(join(folder, "audit", "000000000001.jsonl"), "utf8");
  for (const line of log.trimEnd().split("\n")) {
    assert.ok(line.includes(`"organization_id":"${other.id}"`), line);
  }
  const policies = await readdir(join(folder, "policies"));
  assert.equal(policies.filter((name) => name.endsWith(".yaml")).length, 3);
  const record = policies.find((name) => /^v1-.*\.json$/.test(name)) ?? "";
  assert.match(await readFile(join(folder, "policies", record), "utf8"), /organization_id/);
});

test("a second service on the same directory is refused, and the first continues", async (t) => {
  const app = await start(t);
  const second = start(t); // another directory is free
  assert.equal((await (await second).get("/health")).status, 200);
  await assert.rejects(startSignalbox({ dataDir: app.dataDir }), /in use|lock/i);
  await assert.rejects(
    startSignalbox({ dataDir: `${app.dataDir}/../${app.dataDir.split("/").at(-1)}` }),
  );
  assert.equal((await app.get("/health")).status, 200);
});

test("the record of an ended token is removed when the token would have expired", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const kept = async (): Promise<number> => {
    const path = join(app.dataDir, "organizations", "default", "users.json");
    const { users } = JSON.parse(await readFile(path, "utf8")) as {
      users: { ended_tokens?: object[] }[];
    };
    return users[0]?.ended_tokens?.length ?? 0;
  };
  for (let i = 0; i < 3; i++)
    await app.post("/api/v1/auth/logout", undefined, await app.asUser(ADMIN));
  assert.equal(await kept(), 3);
  app.advance(24 * 3_600_000);
  await app.post("/api/v1/auth/logout", undefined, await app.asUser(ADMIN));
  assert.equal(await kept(), 1);
});

test("events past retention are removed at start and logged, and the rest stays", async (t) => {
  const lines: string[] = [];
  const app = await start(t, {
    auditSegmentBytes: 64 * 1024,
    logLevel: "info",
    writeLog: (line) => lines.push(line),
  });
  const message = "x".repeat(40_000);
  for (const id of ["a", "b", "c"]) await app.post(AUDIT, { id, message });
  app.advance(30 * DAY_MS + 1);
  for (const id of ["d", "e"]) await app.post(AUDIT, { id, message });
  const removals = () => lines.filter((line) => line.includes("past retention"));
  await app.restart();
  assert.equal((await app.get(`${AUDIT}?limit=9`)).body.total, 5);
  assert.deepEqual(removals(), []);
  await app.restart({ auditRetentionDays: 30 });
  await app.restart({ auditRetentionDays: 30 }); // a service that stops ends its sweep first
  const { body } = await app.get(`${AUDIT}?limit=9`);
  const kept = body.events.map(({ id }: { id: string }) => id);
  assert.ok(!kept.includes("a") && kept.includes("d") && kept.includes("e"), String(kept));
  const { level, organization, events, bytes } = JSON.parse(removals()[0] ?? "{}");
  assert.deepEqual([level, organization], ["info", "default"]);
  assert.deepEqual([removals().length, events], [1, 5 - kept.length]);
  assert.ok(bytes > 40_000);
});

test("an export without credentials writes nothing to the disk, whatever its filters", async (t) => {
  const own = await start(t);
  await own.post("/api/public/audit", { command: "git push" });
  const bytes = await bytesBelow(own.dataDir);
  for (const prefix of ["/api/public", "/api/v1"]) {
    const long = await own.get(`${prefix}/audit/export?q=${"x".repeat(15_000)}`);
    assert.equal(long.status, 200);
    const { body } = await own.post(`${prefix}/audit/export-tickets`, { q: "y".repeat(15_000) });
    assert.equal((await own.get(body.url)).status, 200);
  }
  assert.equal(await bytesBelow(own.dataDir), bytes);
});

test("an export by a key is recorded, in at most 4 KiB", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const { key } = await app.createKey("exports", admin);
  const path = join(app.dataDir, "organizations/default/activity.jsonl");
  const long = "x".repeat(1_500);
  const filters = ["q", "provider", "executor", "capability", "status", "runtime", "trace_id"];
  const before = (await stat(path)).size;
  await app.get(`/api/v1/audit/export?${filters.map((name) => `${name}=${long}`).join("&")}`, key);
  const grown = (await stat(path)).size - before;
  assert.ok(grown > 0 && grown <= 4_097, String(grown));
  const entry = await newestEntry(app, admin);
  assert.equal(entry.actor.name, "exports");
  assert.equal(entry.after.q, `${"x".repeat(256)}…`);
});

test("settings of 1,000 long pairs leave an entry of at most 4 KiB", async (t) => {
  const own = await start(t);
  const path = join(own.dataDir, "organizations/default/activity.jsonl");
  const settings = Array.from({ length: 1_000 }, (_, n) => ({
    key: `${n}`.padEnd(128, "語"),
    value: "語".repeat(500),
  }));
  assert.equal((await own.put("/api/v1/settings", { settings })).status, 200);
  assert.ok((await stat(path)).size <= 4_097);
  const entry = await newestEntry(own);
  assert.equal(entry.action, "settings.replace");
  assert.match(entry.after["…"], /^and \d+ more$/);
});

test("entries past ACTIVITY_RETENTION_DAYS are removed at start, the newest 10,000 excepted", async (t) => {
  const lines: string[] = [];
  const total = async (app: App) => (await app.get("/api/v1/activity")).body.total;
  const own = await start(t, { logLevel: "info", writeLog: (line) => void lines.push(line) });
  await own.put("/api/v1/settings", { settings: [{ key: "theme", value: "dark" }] });
  await own.close();
  const path = join(own.dataDir, "organizations/default/activity.jsonl");
  const line = await readFile(path, "utf8");
  await writeFile(join(dirname(path), "activity-2.jsonl"), line.repeat(10_000), { mode: 0o600 });
  own.advance(400 * DAY_MS);
  await own.open();
  await own.restart(); // a service that stops ends its sweep first
  assert.equal(await total(own), 10_001);
  own.advance(1);
  await own.restart();
  await own.restart({ activityRetentionDays: 0 });
  assert.equal(await total(own), 10_000);
  const removed = lines.filter((one) => one.includes("removed old activity entries"));
  assert.equal(removed.length, 1);
});

test("no secret is in the log", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const { id } = await app.createUser({ email: "c@example.com" }, admin);
  const password = "another good password";
  await app.patch(`/api/v1/users/${id}`, { password }, admin);
  const { body } = await app.post("/api/v1/api-keys", { name: "secret" }, admin);
  const text = await readFile(join(app.dataDir, "organizations/default/activity.jsonl"), "utf8");
  assert.ok(text.includes('"password":"changed"'));
  for (const secret of [ADMIN.password, password, body.api_key, "scrypt", "eyJ"]) {
    assert.ok(!text.includes(secret), secret);
  }
});

test("a change whose entry cannot be written is kept, and its answer says so", async (t) => {
  const lines: string[] = [];
  const own = await start(t, { logLevel: "error", writeLog: (line) => void lines.push(line) });
  const path = join(own.dataDir, "organizations/default/activity.jsonl");
  await mkdir(path); // a log cannot be opened there
  const answer = await own.post("/api/v1/policies", { version: "v1", yaml: "rules: []" });
  assert.equal(answer.status, 500);
  assert.match(answer.body.error, /^The record of "policy\.publish" could not be written, but/);
  assert.equal((await own.get("/api/v1/policies/v1")).status, 200);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /request failed.*EISDIR/);
  const login = await own.post("/api/v1/auth/login", { email: "x@example.com", password: "x" });
  assert.equal(login.status, 500);
});
