import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start, START_TIME, type App } from "./start.ts";

test("a restarted service has the same data and the same time", async (t) => {
  const app = await start(t);
  await app.post("/api/public/policies", { version: "v1", yaml: "rules: []" });
  app.advance(60_000);
  await app.restart({ edition: "enterprise" });
  assert.equal((await app.get("/api/public/policies/v1")).body.yaml, "rules: []");
  const { body } = await app.get("/version");
  assert.equal(body.started_at, new Date(Date.parse(START_TIME) + 60_000).toISOString());
  assert.equal((await app.get("/health")).body.edition, "enterprise");
});

test("people, organizations and keys act through the headers that are returned", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const { id, admin: other } = await app.createOrganization("Acme Railways", admin);
  assert.equal((await app.get("/api/v1/auth/me", other)).body.organization_id, id);
  const { key } = await app.createKey("build", other);
  await app.post("/api/v1/fleet/heartbeat", { name: "build-1" }, key);
  assert.equal((await app.get("/api/v1/fleet", other)).body.runtimes.length, 1);
  assert.equal((await app.get("/api/v1/fleet", admin)).body.runtimes.length, 0);
  const user = await app.createUser({ email: "ada@acme.example" }, other);
  const ada = await app.asUser({ email: user.email, password: ADMIN.password });
  assert.equal((await app.get("/api/v1/auth/me", ada)).body.role, "operator");
});

test("a test's service leaves no files", async (t) => {
  const left: App[] = [];
  await t.test("a service that is used", async (inner) => {
    left.push(await start(inner));
  });
  assert.deepEqual(
    left.map(({ dataDir }) => existsSync(dataDir)),
    [false],
  );
});
