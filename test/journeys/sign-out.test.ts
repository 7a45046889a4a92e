import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const LOGOUT = "/api/v1/auth/logout";
const ME = "/api/v1/auth/me";
const TICKETS = "/api/v1/audit/export-tickets";
const JWT_SECRET = "a secret of more than thirty-two bytes";

const setUp = (t: TestContext) =>
  start(t, { ...ADMIN_SETTINGS, jwtSecret: JWT_SECRET, requireAuth: true });

test("signing out ends the sent token and no other, even after a restart", async (t) => {
  const app = await setUp(t);
  const [one, two] = [await app.asUser(ADMIN), await app.asUser(ADMIN)];
  assert.deepEqual((await app.post(LOGOUT, undefined, one)).body, { status: "ok" });
  for (const answer of [await app.get(ME, one), await app.get("/api/v1/fleet", one)]) {
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
  }
  assert.equal((await app.post(LOGOUT, undefined, one)).status, 401);
  assert.equal((await app.get(ME, two)).status, 200);
  assert.equal((await app.get(ME, await app.asUser(ADMIN))).status, 200);
  await app.restart();
  assert.equal((await app.get(ME, one)).status, 401);
  assert.equal((await app.get(ME, two)).status, 200);
});

test("a token that ends while a body arrives changes nothing", async (t) => {
  const app = await setUp(t);
  const admin = await app.asUser(ADMIN);
  const token = await app.asUser(ADMIN);
  const sent = request(`${app.url}/api/v1/users`, {
    method: "POST",
    headers: { ...token, "content-type": "application/json", expect: "100-continue" },
  });
  sent.flushHeaders();
  await once(sent, "continue"); // the token was accepted
  assert.equal((await app.post(LOGOUT, undefined, token)).status, 200);
  const answered = once(sent, "response");
  sent.end(JSON.stringify({ email: "eve@example.com", password: "ten letters and more" }));
  const [answer] = (await answered) as [IncomingMessage];
  assert.equal(answer.statusCode, 401);
  answer.resume();
  const { users } = (await app.get("/api/v1/users", admin)).body;
  assert.equal(users.length, 1);
});

test("a user whose account is deactivated makes no change that still waits in line", async (t) => {
  const app = await setUp(t);
  const admin = await app.asUser(ADMIN);
  const eve = { email: "eve@example.com", password: "ten letters and more" };
  const { body: user } = await app.post("/api/v1/users", { ...eve, role: "admin" }, admin);
  const token = await app.asUser(eve);
  const sent = Array.from({ length: 200 }, (_, i) =>
    app.post("/api/v1/api-keys", { name: `key ${i}` }, token),
  );
  await Promise.race(sent);
  const changed = await app.patch(`/api/v1/users/${user.id}`, { active: false }, admin);
  assert.equal(changed.status, 200);
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  // A database that is too busy answers 503.
  assert.ok(statuses.every((status) => [201, 401, 503].includes(status)));
  const { entries } = (await app.get("/api/v1/activity?limit=1000", admin)).body;
  const actions = entries.map(({ action }: { action: string }) => action).reverse();
  const after = actions.slice(actions.indexOf("user.change") + 1);
  // Changes that have their turn may be recorded after the deactivation: one over files, one for each connection otherwise.
  assert.ok(after.length <= 8, `${after.length} changes came after the deactivation`);
});

for (const { what, path, body } of [
  { what: "a report", path: "/api/v1/audit", body: { command: "ls" } },
  { what: "a replay", path: "/api/v1/policies/replay", body: { base: "recorded" } },
]) {
  test(`${what} is refused if its token ends while the body takes a second to arrive`, async (t) => {
    const app = await setUp(t);
    const admin = await app.asUser(ADMIN);
    const token = await app.asUser(ADMIN);
    const sent = request(`${app.url}${path}`, {
      method: "POST",
      headers: { ...token, "content-type": "application/json", expect: "100-continue" },
    });
    sent.flushHeaders();
    await once(sent, "continue"); // the token was accepted
    assert.equal((await app.post(LOGOUT, undefined, token)).status, 200);
    app.advance(1_000);
    const answered = once(sent, "response");
    sent.end(JSON.stringify(body));
    const [answer] = (await answered) as [IncomingMessage];
    assert.equal(answer.statusCode, 401);
    answer.resume();
    assert.equal((await app.get("/api/v1/audit", admin)).body.total, 0);
  });
}

test("a sign-out is recorded, and requires a token even without authentication", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  assert.equal((await app.post(LOGOUT)).status, 401);
  await app.post(LOGOUT, undefined, await app.asUser(ADMIN));
  const { entries } = (await app.get("/api/v1/activity?action=logout")).body;
  assert.deepEqual(
    entries.map((entry: { actor: { email: string }; target: object }) => entry.actor.email),
    [ADMIN.email],
  );
});

test("a token from elsewhere, without an id, can be ended as well", async (t) => {
  const app = await setUp(t);
  const { id, email } = (await app.get(ME, await app.asUser(ADMIN))).body;
  const exp = Math.floor(app.now / 1_000) + 60.5;
  const claims = { sub: id, email, role: "admin", organization_id: "default", exp };
  const parts = [{ alg: "HS256" }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const mac = createHmac("sha256", JWT_SECRET).update(parts.join(".")).digest("base64url");
  const token = { authorization: `Bearer ${parts.join(".")}.${mac}` };
  assert.equal((await app.get(ME, token)).status, 200);
  assert.equal((await app.post(LOGOUT, undefined, token)).status, 200);
  await app.restart();
  assert.equal((await app.get(ME, token)).status, 401);
});

test("the token of a deleted user can no longer be ended", async (t) => {
  const app = await setUp(t);
  const admin = await app.asUser(ADMIN);
  const { id } = await app.createUser({ email: "bob@example.com" }, admin);
  const bob = await app.asUser({ email: "bob@example.com", password: ADMIN.password });
  await app.delete(`/api/v1/users/${id}`, admin);
  assert.equal((await app.post(LOGOUT, undefined, bob)).status, 404);
});

test("an export ticket ends with the credentials that requested it", async (t) => {
  const app = await setUp(t);
  const admin = await app.asUser(ADMIN);
  const { id: userId } = await app.createUser({ email: "bob@example.com" }, admin);
  const bob = { email: "bob@example.com", password: ADMIN.password };
  const signedOut = await app.asUser(bob);
  const deleted = await app.asUser(bob);
  const { id: keyId, key } = await app.createKey("exporter", admin);
  const urls: string[] = [];
  for (const headers of [signedOut, deleted, key, admin]) {
    const answer = await app.post(TICKETS, {}, headers);
    assert.equal(answer.status, 201, answer.text);
    urls.push(answer.body.url);
  }
  await app.post(LOGOUT, undefined, signedOut);
  assert.equal((await app.get(urls[0] ?? "")).status, 404);
  await app.delete(`/api/v1/users/${userId}`, admin);
  await app.delete(`/api/v1/api-keys/${keyId}`, admin);
  const statuses = [];
  for (const url of urls.slice(1)) statuses.push((await app.get(url)).status);
  assert.deepEqual(statuses, [404, 404, 200]);
});
