import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const KEYS = "/api/v1/api-keys";

test("a key is shown once, works where runtimes call, and is listed without its secret", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const created = await app.post(KEYS, { name: "agents" }, admin);
  assert.equal(created.status, 201);
  const { api_key, warning, ...shown } = created.body;
  assert.match(api_key, /^sbx_[\w-]{43}$/);
  assert.ok(warning.length > 0);
  assert.deepEqual((await app.get(KEYS, admin)).body, { api_keys: [shown] });
  assert.equal(shown.prefix, api_key.slice(0, 12));
  assert.equal(shown.scopes, "runtime");

  const asKey = { "x-api-key": api_key };
  app.advance(5_000);
  assert.equal((await app.get("/api/v1/policies", asKey)).status, 200);
  const [used] = (await app.get(KEYS, admin)).body.api_keys;
  assert.equal(Date.parse(used.last_used_at), app.now);
  assert.equal((await app.get(KEYS, asKey)).status, 401);
});

test("a list of many keys is complete, and written in parts while it is sent", async (t) => {
  const app = await start(t);
  for (let i = 0; i < 205; i++) await app.post(KEYS, { name: `key ${i}` });
  const { body, headers } = await app.get(KEYS);
  const names = body.api_keys.map(({ name }: { name: string }) => name);
  assert.deepEqual(
    names.toReversed(),
    Array.from({ length: 205 }, (_, i) => `key ${i}`),
  );
  assert.equal(headers.get("content-length"), null);
  await app.restart();
  assert.deepEqual((await app.get(KEYS)).body, body);
});

test("a revoked key is refused from the next request on, and can be revoked again", async (t) => {
  const app = await start(t);
  const { body } = await app.post(KEYS, { name: "agents" });
  const asKey = { "x-api-key": body.api_key };
  assert.equal((await app.get("/api/v1/policies", asKey)).status, 200);
  for (const _ of [1, 2]) {
    const revoked = await app.delete(`${KEYS}/${body.id}`);
    assert.deepEqual([revoked.status, revoked.body], [200, { id: body.id, status: "revoked" }]);
  }
  assert.equal((await app.get("/api/v1/policies", asKey)).status, 401);
  assert.equal((await app.get("/api/public/policies", asKey)).status, 200);
  assert.equal((await app.get(KEYS)).body.api_keys[0].revoked, true);
});

test("a key is accepted until it expires and refused from then on, even over restarts", async (t) => {
  const app = await start(t);
  const { body } = await app.post(KEYS, { name: "agents", expires_in_days: 2 });
  assert.equal(Date.parse(body.expires_at), app.now + 2 * 86_400_000);
  const status = async () =>
    (await app.get("/api/v1/policies", { "x-api-key": body.api_key })).status;
  app.advance(2 * 86_400_000 - 1);
  assert.equal(await status(), 200);
  await app.restart();
  assert.equal(await status(), 200);
  assert.match((await app.get("/portal/access")).text, /active[^]*title="2026-11-22 20:30:00 UTC"/);
  app.advance(1);
  assert.equal(await status(), 401);
  const [listed] = (await app.get(KEYS)).body.api_keys;
  assert.deepEqual([listed.revoked, listed.expires_at], [false, body.expires_at]);
  assert.match((await app.get("/portal/access")).text, /0 active,\s+1 expired/);
  const { entries } = (await app.get("/api/v1/activity?action=key.create")).body;
  assert.equal(entries[0].after.expires_at, body.expires_at);
  const refused = await app.post(KEYS, { name: "agents", expires_in_days: 0 });
  assert.deepEqual(
    [refused.status, refused.body.error],
    [400, "expires_in_days: expected at least 1"],
  );
});

test("a key acts for its organization, even if no credentials are required", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { id, admin } = await app.createOrganization("Acme");
  const { body } = await app.post(KEYS, { name: "agents" }, admin);
  const asKey = { "x-api-key": body.api_key };
  assert.equal((await app.get("/api/v1/settings", asKey)).body.organization_id, id);
  assert.equal((await app.get(KEYS)).body.api_keys.length, 0);
  assert.equal((await app.delete(`${KEYS}/${body.id}`)).status, 404);
  assert.equal((await app.delete(`${KEYS}/__proto__`)).status, 404);
});

test("keys and their last use survive a restart", async (t) => {
  const app = await start(t);
  const { body } = await app.post(KEYS, { name: "agents", scopes: "ci" });
  await app.get("/api/v1/policies", { "x-api-key": body.api_key });
  const before = (await app.get(KEYS)).body;
  await app.restart();
  assert.deepEqual((await app.get(KEYS)).body, before);
  assert.equal((await app.get("/api/v1/policies", { "x-api-key": body.api_key })).status, 200);
});

test("a key needs a name", async (t) => {
  const app = await start(t);
  assert.equal((await app.post(KEYS, {})).status, 400);
  assert.equal((await app.post(KEYS, { name: " " })).status, 400);
});
