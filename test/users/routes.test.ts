import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const LOGIN = "/api/v1/auth/login";
const ME = "/api/v1/auth/me";
const OWN_PASSWORD = "/api/v1/auth/password";
const NEW = "another good password";
const BOB = { email: "bob@example.com", name: "Bob", password: "bob's own password" };

test("a sign-in answers a token, its end, and the user", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, jwtExpiryHours: 2 });
  const { status, body } = await app.post(LOGIN, ADMIN);
  assert.equal(status, 200);
  assert.equal(Date.parse(body.expires_at), app.now + 2 * 3_600_000);
  const me = await app.get(ME, { authorization: `Bearer ${body.token}` });
  assert.equal(me.status, 200);
  assert.deepEqual(me.body, body.user);
  assert.equal(me.body.email, ADMIN.email);
  assert.equal(me.body.role, "admin");
});

test("failed sign-ins are alike, and what is no sign-in is 400", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const wrong = await app.post(LOGIN, { ...ADMIN, password: "wrong words" });
  const unknown = await app.post(LOGIN, { ...ADMIN, email: "nobody@example.com" });
  assert.deepEqual([wrong.status, unknown.status], [401, 401]);
  assert.equal(wrong.text, unknown.text);
  assert.equal(wrong.headers.get("www-authenticate"), 'Bearer realm="signalbox"');
  assert.equal((await app.post(LOGIN, { ...ADMIN, email: "admin" })).status, 400);
  assert.equal((await app.post(LOGIN, { email: ADMIN.email })).status, 400);
});

test("guessing is slowed down, and the wait is told", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  for (let i = 0; i < 5; i++) {
    assert.equal((await app.post(LOGIN, { ...ADMIN, password: "guess" })).status, 401);
  }
  const refused = await app.post(LOGIN, ADMIN);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "60");
  app.advance(60_000);
  assert.equal((await app.post(LOGIN, ADMIN)).status, 200);
});

test("who am I demands a token, also while nothing else does", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  assert.equal((await app.get(ME)).status, 401);
  const refused = await app.get(ME, { authorization: "Bearer nonsense" });
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
});

test("a changed password is the only one that signs in, and ends the token that changed it", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const admin = await app.asUser(ADMIN);
  const change = (current: string) => app.put(OWN_PASSWORD, { current, password: NEW }, admin);
  assert.equal((await change("wrong words")).status, 403);
  assert.deepEqual((await change(ADMIN.password)).body, { status: "ok" });
  assert.equal((await app.get(ME, admin)).status, 401);
  assert.equal((await app.post(LOGIN, ADMIN)).status, 401);
  assert.equal((await app.post(LOGIN, { ...ADMIN, password: NEW })).status, 200);
});

test("a user is created, read, changed and deleted", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const created = await app.post("/api/v1/users", { ...BOB, role: "operator" }, admin);
  assert.equal(created.status, 201);
  const path = `/api/v1/users/${created.body.id}`;
  assert.deepEqual(created.body, {
    id: created.body.id,
    name: "Bob",
    email: BOB.email,
    role: "operator",
    active: true,
    organization_id: "default",
  });
  assert.deepEqual((await app.get(path, admin)).body, created.body);
  assert.equal((await app.get("/api/v1/users", admin)).body.users.length, 2);
  assert.equal((await app.post("/api/v1/users", BOB, admin)).status, 409);

  const bob = await app.asUser(BOB);
  const renamed = await app.patch(path, { name: "Robert" }, bob);
  assert.deepEqual(renamed.body, { ...created.body, name: "Robert" });
  assert.equal((await app.get(ME, bob)).status, 200);

  const deleted = await app.delete(path, admin);
  assert.deepEqual(deleted.body, { id: created.body.id, status: "deleted" });
  assert.equal((await app.delete(path, admin)).status, 404);
  assert.equal((await app.get(path, admin)).status, 404);
  assert.equal((await app.get(ME, bob)).status, 404);
  assert.equal((await app.get("/api/v1/users", bob)).status, 401);
});

test("a deactivated user's tokens and password count no more", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { body } = await app.post("/api/v1/users", BOB);
  const bob = await app.asUser(BOB);
  const path = `/api/v1/users/${body.id}`;
  assert.equal((await app.patch(path, { active: false })).body.active, false);
  assert.equal((await app.get(ME, bob)).status, 401);
  assert.equal((await app.post(LOGIN, BOB)).status, 401);
  await app.patch(path, { active: true });
  assert.equal((await app.get(ME, bob)).status, 401);
  await app.asUser(BOB);
});

test("an admin may set another password for a user", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { body } = await app.post("/api/v1/users", BOB);
  const bob = await app.asUser(BOB);
  assert.equal((await app.patch(`/api/v1/users/${body.id}`, { password: NEW })).status, 200);
  assert.equal((await app.get(ME, bob)).status, 401);
  await app.asUser({ ...BOB, password: NEW });
});

test("the last active admin stays", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const [admin] = (await app.get("/api/v1/users")).body.users;
  const path = `/api/v1/users/${admin.id}`;
  assert.equal((await app.delete(path)).status, 409);
  assert.equal((await app.patch(path, { active: false })).status, 409);
  assert.equal((await app.patch(path, { role: "viewer" })).status, 409);
  assert.deepEqual((await app.get(path)).body, admin);
});

test("the users of another organization do not exist", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const [root] = (await app.get("/api/v1/users")).body.users;
  const { admin } = await app.createOrganization("Acme");
  const path = `/api/v1/users/${root.id}`;
  assert.equal((await app.get(path, admin)).status, 404);
  assert.equal((await app.patch(path, { name: "!", password: NEW }, admin)).status, 404);
  assert.equal((await app.delete(path, admin)).status, 404);
  const visible = (await app.get("/api/v1/users", admin)).body.users;
  assert.deepEqual(
    visible.map((user: { email: string }) => user.email),
    ["admin@acme.example.com"],
  );
  assert.equal(
    (await app.post("/api/v1/users", { ...BOB, email: ADMIN.email }, admin)).status,
    409,
  );
});

test("users and passwords survive a restart", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const admin = await app.asUser(ADMIN);
  await app.restart({ adminPassword: "never overwrites one" });
  assert.equal((await app.get(ME, admin)).status, 200);
  await app.asUser(ADMIN);
});
