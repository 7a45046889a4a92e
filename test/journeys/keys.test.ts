import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const KEYS = "/api/v1/api-keys";
const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });
const admin = await app.asUser(ADMIN);

async function listed(id: string) {
  const { body } = await app.get(KEYS, admin);
  return body.api_keys.find((one: { id: string }) => one.id === id);
}

test("the life of a key: created, used, revoked, refused", async () => {
  const created = await app.post(KEYS, { name: "build" }, admin);
  assert.equal(created.status, 201);
  const { api_key, warning, ...shown } = created.body;
  assert.match(api_key, /^sbx_[A-Za-z0-9_-]{43,}$/);
  assert.notEqual(warning, "");
  assert.deepEqual(shown, {
    id: shown.id,
    name: "build",
    prefix: api_key.slice(0, 12),
    scopes: "runtime",
    revoked: false,
    created_at: "2026-11-20T20:30:00.000Z",
  });
  assert.deepEqual(await listed(shown.id), shown);

  const key = { "x-api-key": api_key };
  app.advance(60_000);
  assert.equal((await app.get("/api/v1/audit", key)).status, 200);
  assert.equal((await listed(shown.id)).last_used_at, "2026-11-20T20:31:00.000Z");
  app.advance(60_000);
  assert.equal((await app.post("/api/v1/fleet/heartbeat", { name: "r" }, key)).status, 200);
  assert.equal((await listed(shown.id)).last_used_at, "2026-11-20T20:32:00.000Z");
  assert.equal((await app.get(KEYS, key)).status, 401);

  const revoked = await app.delete(`${KEYS}/${shown.id}`, admin);
  assert.deepEqual([revoked.status, revoked.body], [200, { id: shown.id, status: "revoked" }]);
  assert.equal((await app.get("/api/v1/audit", key)).status, 401);
  assert.equal((await listed(shown.id)).revoked, true);
  assert.equal((await listed(shown.id)).last_used_at, "2026-11-20T20:32:00.000Z");
  assert.equal((await app.delete(`${KEYS}/${shown.id}`, admin)).status, 200);
  await app.restart();
  assert.equal((await app.get("/api/v1/audit", key)).status, 401);
});

test("a key works after a restart, and its last use is kept", async () => {
  const { id, key } = await app.createKey("kept", admin);
  await app.get("/api/v1/policies", key);
  const used = (await listed(id)).last_used_at;
  await app.restart();
  assert.equal((await listed(id)).last_used_at, used);
  assert.equal((await app.get("/api/v1/policies", key)).status, 200);
});

test("scopes are stored unchanged", async () => {
  const { body } = await app.post(KEYS, { name: "n", scopes: "runtime audit" }, admin);
  assert.equal(body.scopes, "runtime audit");
  assert.equal((await app.post(KEYS, { name: "n", scopes: "" }, admin)).body.scopes, "runtime");
  assert.equal((await app.post(KEYS, { name: "n", scopes: null }, admin)).body.scopes, "runtime");
});

test("an invalid key description is refused", async () => {
  const { length } = (await app.get(KEYS, admin)).body.api_keys;
  for (const body of [{}, { name: "" }, { name: null }, { name: 1 }, { name: "n", scopes: [] }]) {
    assert.equal((await app.post(KEYS, body, admin)).status, 400, JSON.stringify(body));
  }
  assert.equal((await app.get(KEYS, admin)).body.api_keys.length, length);
  assert.equal((await app.delete(`${KEYS}/none`, admin)).status, 404);
});

test("only the first answer contains the key, and none its hash", async () => {
  const { key } = await app.createKey("secret", admin);
  const { text } = await app.get(KEYS, admin);
  assert.ok(!text.includes(String(key["x-api-key"]).slice(12)));
  assert.ok(!/"(hash|api_key|key)"/.test(text));
});

test("if no credentials are required, a key still selects the organization", async (t) => {
  const own = await start(t, ADMIN_SETTINGS);
  const other = await own.createOrganization("Other", await own.asUser(ADMIN));
  const { key, id } = await own.createKey("other", other.admin);
  const { body } = await own.post("/api/v1/audit", { command: "ls" }, key);
  assert.equal(body.organization_id, other.id);
  assert.equal((await own.get("/api/v1/audit")).body.total, 0);
  assert.equal((await own.get("/api/v1/audit", key)).body.total, 1);
  const me = await own.get("/api/v1/settings", key);
  assert.deepEqual([me.status, me.body.organization_id], [200, other.id]);

  const foreign = { ...key, ...(await own.asUser(ADMIN)) };
  assert.equal((await own.get("/api/v1/audit", foreign)).status, 401);
  assert.equal((await own.get("/api/v1/audit", { ...key, ...other.admin })).body.total, 1);
  const published = await own.post(
    "/api/v1/policies",
    { yaml: "a: 1" },
    { ...key, ...other.admin },
  );
  assert.equal(published.body.updated_by, "admin@other.example.com");
  await own.delete(`${KEYS}/${id}`, other.admin);
  assert.equal((await own.get("/api/v1/audit", key)).status, 401);
  assert.equal((await own.post("/api/public/audit", { command: "ls" }, key)).status, 202);
});
