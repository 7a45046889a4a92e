import assert from "node:assert/strict";
import { test } from "node:test";
import { createPasswords, type Passwords } from "../../src/auth/password.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const LOGIN = "/api/v1/auth/login";
const ME = "/api/v1/auth/me";
const OWN_PASSWORD = "/api/v1/auth/password";
const NEW = "another good password";
const BOB = { email: "bob@example.com", name: "Bob", password: "bob's own password" };

test("a sign-in returns a token, its expiry, and the user", async (t) => {
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

test("failed sign-ins have equal answers, and an invalid body is 400", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const wrong = await app.post(LOGIN, { ...ADMIN, password: "wrong words" });
  const unknown = await app.post(LOGIN, { ...ADMIN, email: "nobody@example.com" });
  assert.deepEqual([wrong.status, unknown.status], [401, 401]);
  assert.equal(wrong.text, unknown.text);
  assert.equal(wrong.headers.get("www-authenticate"), 'Bearer realm="signalbox"');
  assert.equal((await app.post(LOGIN, { ...ADMIN, email: "admin" })).status, 400);
  assert.equal((await app.post(LOGIN, { email: ADMIN.email })).status, 400);
});

test("guessing is slowed down, and the answer states the wait", async (t) => {
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

test("/me requires a token, even without authentication", async (t) => {
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

test("a deactivated user's tokens and password are refused", async (t) => {
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

test("the last active admin cannot be removed or deactivated", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const [admin] = (await app.get("/api/v1/users")).body.users;
  const path = `/api/v1/users/${admin.id}`;
  assert.equal((await app.delete(path)).status, 409);
  assert.equal((await app.patch(path, { active: false })).status, 409);
  assert.equal((await app.patch(path, { role: "viewer" })).status, 409);
  assert.deepEqual((await app.get(path)).body, admin);
});

test("the own password changes only with the current one, on every route", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { id } = await app.createUser(BOB);
  const bob = await app.asUser(BOB);
  const path = `/api/v1/users/${id}`;
  const missing = await app.patch(path, { password: NEW }, bob);
  assert.deepEqual(
    [missing.status, missing.body.error],
    [400, "current_password: required to change your own password"],
  );
  const change = (current_password: string) =>
    app.patch(path, { password: NEW, current_password }, bob);
  assert.equal((await change("wrong words")).status, 403);
  await app.asUser(BOB);
  assert.equal((await change(BOB.password)).status, 200);
  assert.equal((await app.get(ME, bob)).status, 401);
  await app.asUser({ ...BOB, password: NEW });
});

test("guesses at the current password are counted on every route together", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { id } = await app.createUser(BOB);
  const bob = await app.asUser(BOB);
  const guess = { password: NEW, current_password: "wrong words" };
  for (let i = 0; i < 3; i++) await app.patch(`/api/v1/users/${id}`, guess, bob);
  for (let i = 0; i < 2; i++) {
    await app.put(OWN_PASSWORD, { current: "wrong words", password: NEW }, bob);
  }
  assert.equal((await app.patch(`/api/v1/users/${id}`, guess, bob)).status, 429);
});

test("users cannot change their own role, and sending the present role changes nothing", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { id } = await app.createUser({ ...BOB, role: "viewer" });
  const bob = await app.asUser(BOB);
  const path = `/api/v1/users/${id}`;
  const refused = await app.patch(path, { role: "admin" }, bob);
  assert.deepEqual(
    [refused.status, refused.body.error],
    [403, "role: users cannot change their own, ask another admin"],
  );
  const kept = await app.patch(path, { role: "viewer", name: "Robert" }, bob);
  assert.deepEqual([kept.status, kept.body.name, kept.body.role], [200, "Robert", "viewer"]);
  assert.equal((await app.patch(path, { role: "admin" }, await app.asUser(ADMIN))).status, 200);
});

test("a request that is refused for another reason costs no hash", async (t) => {
  const quick = createPasswords({ now: () => 0, cost: 2 });
  let hashes = 0;
  const counting: Passwords = {
    hash: (...asked) => (hashes++, quick.hash(...asked)),
    verify: (...asked) => (hashes++, quick.verify(...asked)),
  };
  const app = await start(t, ADMIN_SETTINGS, counting);
  const admin = await app.asUser(ADMIN);
  const { id } = (await app.get(ME, admin)).body;
  const bob = await app.createUser(BOB);
  hashes = 0;
  const organization = { name: "Acme", admin_email: "a@example.com", admin_password: NEW };
  for (const [status, answer] of [
    [409, await app.post("/api/v1/users", { ...BOB, email: ADMIN.email.toUpperCase() }, admin)],
    [409, await app.post("/api/v1/organizations", { ...organization, slug: "default" }, admin)],
    [409, await app.post("/api/v1/organizations", { ...organization, admin_email: BOB.email })],
    [404, await app.patch("/api/v1/users/nobody", { password: NEW }, admin)],
    [409, await app.patch(`/api/v1/users/${id}`, { password: NEW, active: false })],
    [400, await app.patch(`/api/v1/users/${id}`, { password: NEW }, admin)],
    [403, await app.patch(`/api/v1/users/${id}`, { password: NEW, role: "viewer" }, admin)],
    [400, await app.patch(`/api/v1/users/${bob.id}`, { password: "short" }, admin)],
  ] as const) {
    assert.equal(answer.status, status, answer.text);
  }
  await app.restart({ maxUsers: 2, maxOrganizations: 1 });
  const user = { email: "new@example.com", password: NEW };
  assert.equal((await app.post("/api/v1/users", user)).status, 429);
  assert.equal((await app.post("/api/v1/organizations", organization)).status, 429);
  assert.equal(hashes, 0);
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
