import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start, type App, type Settings } from "../support/start.ts";

const MIB = 1 << 20;
const DAY_MS = 24 * 60 * 60 * 1_000;
const PASSWORD = "another good password";

/** A service with authentication on, and its admin's headers. */
async function secured(t: TestContext, settings: Settings) {
  const all = { ...ADMIN_SETTINGS, requireAuth: true, metrics: "open", ...settings };
  const app = await start(t, all);
  return { app, admin: await app.asUser(ADMIN) };
}

async function refusalsOf(app: App, quota: string): Promise<number> {
  const { text } = await app.get("/metrics");
  const line = new RegExp(`^signalbox_quota_refusals_total\\{quota="${quota}"\\} (\\d+)$`, "m");
  return Number(line.exec(text)?.[1]);
}

test("events are accepted up to MAX_AUDIT_BYTES, then refused until retention has removed some", async (t) => {
  const settings = { maxAuditBytes: MIB, auditSegmentBytes: 64 * 1024, auditRetentionDays: 30 };
  const app = await start(t, { ...settings, metrics: "open" });
  const bytes = async () => (await app.get("/api/v1/settings")).body.audit.bytes as number;
  const send = (length: number) =>
    app.post("/api/public/audit", { id: `of-${length}`, message: "m".repeat(length) });
  assert.equal((await send(MIB - 2_000)).status, 202);
  const left = MIB - (await bytes());
  assert.equal((await send(left - 300)).status, 202); // still below the limit
  assert.ok((await bytes()) < MIB);
  assert.equal((await send(1_000)).status, 202); // this one reaches the limit
  assert.ok((await bytes()) >= MIB);
  const refused = await send(1);
  assert.equal(refused.status, 507);
  assert.match(refused.body.error, /^MAX_AUDIT_BYTES: .*AUDIT_RETENTION_DAYS/);
  assert.equal(refused.headers.get("retry-after"), "3600");
  assert.equal((await app.post("/api/v1/audit", { events: [{ command: "ls" }] })).status, 507);
  assert.equal(await refusalsOf(app, "MAX_AUDIT_BYTES"), 2);
  assert.equal((await app.get("/api/v1/audit")).body.total, 3);

  await app.restart();
  assert.equal((await send(1)).status, 507);
  app.advance(31 * DAY_MS);
  await app.restart();
  await app.restart(); // a service that stops ends its sweep first
  assert.equal((await send(1)).status, 202);
});

test("retention makes room even where MAX_AUDIT_BYTES is reached before a segment is sealed", async (t) => {
  const app = await start(t, { maxAuditBytes: MIB, auditRetentionDays: 30 });
  const send = (message: string) => app.post("/api/public/audit", { message });
  assert.equal((await send("m".repeat(MIB))).status, 202);
  assert.equal((await send("later")).status, 507);
  app.advance(32 * DAY_MS);
  await app.restart();
  await app.restart(); // a service that stops ends its sweep first
  assert.equal((await app.get("/api/v1/audit")).body.total, 0);
  assert.equal((await send("later")).status, 202);
});

test("each organization's bytes are counted separately", async (t) => {
  const { app, admin } = await secured(t, { maxAuditBytes: MIB });
  const acme = await app.createOrganization("Acme", admin);
  const message = "m".repeat(MIB);
  assert.equal((await app.post("/api/v1/audit", { message }, acme.admin)).status, 202);
  assert.equal((await app.post("/api/v1/audit", { command: "ls" }, acme.admin)).status, 507);
  assert.equal((await app.post("/api/v1/audit", { command: "ls" }, admin)).status, 202);
});

test("the public surface reaches its limit sooner, while the organization's own keys continue", async (t) => {
  const { app, admin } = await secured(t, {
    publicMaxAuditBytes: MIB,
    publicMaxRuntimes: 1,
    publicMaxPolicyVersions: 1,
  });
  const both = async (path: string, body: object) => [
    (await app.post(`/api/public${path}`, body)).status,
    (await app.post(`/api/v1${path}`, body, admin)).status,
  ];
  await app.post("/api/public/audit", { message: "m".repeat(MIB) });
  assert.deepEqual(await both("/audit", { command: "ls" }), [507, 202]);
  await app.post("/api/public/fleet/heartbeat", { name: "first" });
  assert.deepEqual(await both("/fleet/heartbeat", { name: "second" }), [429, 200]);
  assert.deepEqual(await both("/runtime/register", { name: "third" }), [429, 201]);
  await app.post("/api/public/policies", { version: "v1", yaml: "a: 1" });
  assert.deepEqual(await both("/policies", { version: "v2", yaml: "a: 1" }), [429, 201]);
  assert.equal(await refusalsOf(app, "PUBLIC_MAX_RUNTIMES"), 2);

  await app.restart({ requireAuth: false });
  assert.deepEqual(await both("/audit", { command: "ls" }), [202, 202]);
  assert.equal((await app.post("/api/public/fleet/heartbeat", { name: "fourth" })).status, 200);
});

test("a full fleet refuses new runtimes, accepts known ones, and has room after one was forgotten", async (t) => {
  const app = await start(t, { maxRuntimes: 2 });
  const beat = async (name: string) => app.post("/api/v1/fleet/heartbeat", { name });
  const answers = await Promise.all(["a", "b", "a"].map(beat)); // in parallel, and one of them twice
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  const refused = await beat("c");
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^MAX_RUNTIMES: expected at most 2 runtimes.*FLEET_FORGET_DAYS/);
  assert.equal((await app.post("/api/v1/runtime/register", { name: "c" })).status, 429);
  assert.equal((await beat("a")).status, 200);
  await app.delete("/api/v1/fleet/b");
  assert.equal((await beat("c")).status, 200);
  await app.restart({ maxRuntimes: 1 }); // data above a quota stays
  assert.equal((await app.get("/api/v1/fleet")).body.runtimes.length, 2);
  assert.equal((await beat("a")).status, 200);
});

test("concurrent registrations do not exceed the limit", async (t) => {
  const app = await start(t, { maxRuntimes: 5 });
  const beats = Array.from({ length: 20 }, (_, n) =>
    app.post("/api/public/fleet/heartbeat", { name: `r${n}` }),
  );
  const statuses = (await Promise.all(beats)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 5);
  assert.equal((await app.get("/api/v1/fleet")).body.runtimes.length, 5);
});

test("MAX_POLICY_VERSIONS bounds the versions; each of them can still be activated", async (t) => {
  const app = await start(t, { maxPolicyVersions: 2 });
  const publish = (version: string) =>
    app.post("/api/public/policies", { version, yaml: "rules: []" });
  assert.equal((await publish("v1")).status, 201);
  assert.equal((await publish("v2")).status, 201);
  const refused = await publish("v3");
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^MAX_POLICY_VERSIONS: expected at most 2 policy versions/);
  assert.equal((await publish("v2")).status, 409); // a pipeline learns that its version is stored
  assert.equal((await app.post("/api/public/policies/v1/activate", {})).status, 200);
});

test("MAX_USERS bounds the users, and a deleted user makes room", async (t) => {
  const { app, admin } = await secured(t, { maxUsers: 2 });
  const create = (email: string) =>
    app.post("/api/v1/users", { email, password: PASSWORD, name: "N", role: "viewer" }, admin);
  const { body } = await create("a@example.com");
  const refused = await create("b@example.com");
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^MAX_USERS: expected at most 2 users/);
  await app.delete(`/api/v1/users/${body.id}`, admin);
  assert.equal((await create("b@example.com")).status, 201);
});

test("MAX_API_KEYS bounds the keys that are not revoked", async (t) => {
  const app = await start(t, { maxApiKeys: 2 });
  const create = () => app.post("/api/v1/api-keys", { name: "ci" });
  const { body } = await create();
  assert.equal((await create()).status, 201);
  const refused = await create();
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^MAX_API_KEYS: expected at most 2 API keys/);
  await app.delete(`/api/v1/api-keys/${body.id}`);
  assert.equal((await create()).status, 201);
  assert.equal((await app.get("/api/v1/api-keys")).body.api_keys.length, 3);
});

test("MAX_ORGANIZATIONS bounds the organizations", async (t) => {
  const { app, admin } = await secured(t, { maxOrganizations: 2 });
  await app.createOrganization("Acme", admin);
  const body = { name: "Globex", admin_email: "a@globex.example.com", admin_password: PASSWORD };
  const refused = await app.post("/api/v1/organizations", body, admin);
  assert.equal(refused.status, 429);
  assert.match(refused.body.error, /^MAX_ORGANIZATIONS: expected at most 2 organizations/);
});

test("runtimes that are silent for FLEET_FORGET_DAYS are forgotten at start, and logged", async (t) => {
  const lines: string[] = [];
  const app = await start(t, { logLevel: "info", writeLog: (line) => void lines.push(line) });
  const beat = (name: string) => app.post("/api/public/fleet/heartbeat", { name });
  const names = async () =>
    (await app.get("/api/v1/fleet")).body.runtimes.map(({ name }: { name: string }) => name);
  await beat("gone");
  app.advance(1);
  await beat("silent");
  app.advance(90 * DAY_MS);
  await beat("alive");
  await app.restart();
  await app.restart({ fleetForgetDays: 0 }); // a service that stops ends its sweep first
  assert.deepEqual(await names(), ["alive", "silent"]);
  const told = lines.filter((line) => line.includes("forgot runtimes"));
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /"organization":"default","runtimes":1/);
  assert.equal((await beat("gone")).status, 200);
  app.advance(900 * DAY_MS);
  await app.restart();
  await app.restart();
  assert.equal((await names()).length, 3);
});
