import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

const HOURS_24 = 24 * 60 * 60_000;

async function providerIn(app: App, id: string, prefix = "/api/v1") {
  const { providers } = (await app.get(`${prefix}/providers`)).body;
  return providers.find((row: { id: string }) => row.id === id);
}

async function denied(app: App, provider: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => ({ provider, decision: "denied" }));
  await app.post("/api/public/audit", { events });
}

for (const prefix of ["/api/public", "/api/v1"]) {
  test(`${prefix}/providers shows the catalog's providers with their status`, async (t) => {
    const app = await start(t);
    const { body } = await app.get(`${prefix}/providers`);
    assert.equal(body.catalog, "embed");
    const ids = body.providers.map((row: { id: string }) => row.id);
    assert.deepEqual(ids, ids.toSorted());
    assert.equal((await providerIn(app, "git", prefix)).status, "offline");
    assert.equal((await providerIn(app, "git", prefix)).last_used, undefined);
    await app.post(`${prefix}/audit`, { command: "git push" });
    const used = await providerIn(app, "git", prefix);
    assert.deepEqual([used.status, used.last_used], ["connected", "2026-11-20T20:30:00.000Z"]);
  });
}

test("a provider is degraded while denials prevail, and offline a day later", async (t) => {
  const app = await start(t);
  await denied(app, "git", 4);
  assert.equal((await providerIn(app, "git")).status, "connected");
  await denied(app, "git", 1);
  assert.equal((await providerIn(app, "git")).status, "degraded");
  app.advance(HOURS_24 + 1);
  const later = await providerIn(app, "git");
  assert.deepEqual([later.status, later.last_used], ["offline", "2026-11-20T20:30:00.000Z"]);
});

test("the names are those of the catalog and of the events, sorted", async (t) => {
  const app = await start(t);
  const before = (await app.get("/api/v1/provider-names")).body.providers;
  for (const command of ["zz-tool run", "__proto__ x", "git push"]) {
    await app.post("/api/public/audit", { command });
  }
  const names = (await app.get("/api/public/provider-names")).body.providers;
  assert.deepEqual(names, [...before, "zz-tool", "__proto__"].sort());
});

test("a set status applies until it is removed, even after a restart", async (t) => {
  const app = await start(t);
  const set = await app.put("/api/v1/providers/git", { status: "degraded" });
  assert.deepEqual([set.status, set.body], [200, await providerIn(app, "git")]);
  assert.equal(set.body.status, "degraded");
  await app.restart();
  assert.equal((await providerIn(app, "git", "/api/public")).status, "degraded");
  const lifted = await app.delete("/api/v1/providers/git");
  assert.deepEqual([lifted.status, lifted.body], [200, { id: "git", status: "deleted" }]);
  assert.equal((await providerIn(app, "git")).status, "offline");
  assert.equal((await app.delete("/api/v1/providers/git")).status, 404);
});

test("an invalid status, or one of an unknown provider, cannot be set", async (t) => {
  const app = await start(t);
  const unknown = await app.put("/api/v1/providers/no-such", { status: "offline" });
  assert.deepEqual(
    [unknown.status, unknown.body.error],
    [404, 'The catalog has no provider "no-such"'],
  );
  const wrong = await app.put("/api/v1/providers/git", { status: "up" });
  assert.equal(wrong.status, 400);
  assert.equal(wrong.body.error, "status: expected connected, offline or degraded");
  assert.equal((await app.put("/api/v1/providers/git", {})).status, 400);
  assert.equal((await app.put("/api/public/providers/git", { status: "offline" })).status, 404);
});

test("each organization has its own events and statuses", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const { admin } = await app.createOrganization("Acme", await app.asUser(ADMIN));
  await app.put("/api/v1/providers/git", { status: "degraded" }, admin);
  await app.post("/api/v1/audit", { command: "aws s3 ls" }, admin);
  const { providers } = (await app.get("/api/public/providers")).body;
  const used = providers.filter((row: { status: string }) => row.status !== "offline");
  assert.deepEqual(used, []);
});
