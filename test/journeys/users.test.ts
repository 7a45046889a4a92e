import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, test } from "node:test";
import { jwtVerify } from "jose";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

const JWT_SECRET = "a secret of more than thirty-two bytes";
const SETTINGS = { ...ADMIN_SETTINGS, jwtSecret: JWT_SECRET, requireAuth: true };
const HOUR = 3_600_000;
const app = await start({ after }, SETTINGS);
const admin = await app.asUser(ADMIN);
const { id: adminId } = (await app.get("/api/v1/auth/me", admin)).body;

/** A token that the test makes itself. */
function sign(claims: object, header: object = { alg: "HS256", typ: "JWT" }): string {
  const parts = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const mac = createHmac("sha256", JWT_SECRET).update(parts.join(".")).digest("base64url");
  return `${parts.join(".")}.${mac}`;
}

const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });
const seconds = (own: App): number => Math.floor(own.now / 1000);

test("signing in gives a token for a day, and the user", async () => {
  const { status, body } = await app.post("/api/v1/auth/login", {
    email: ADMIN.email.toUpperCase(),
    password: ADMIN.password,
  });
  assert.equal(status, 200);
  assert.equal(body.expires_at, "2026-11-21T20:30:00.000Z");
  assert.deepEqual(body.user, (await app.get("/api/v1/auth/me", bearer(body.token))).body);
  const { payload, protectedHeader } = await jwtVerify(body.token, Buffer.from(JWT_SECRET), {
    algorithms: ["HS256"],
    currentDate: new Date(app.now),
  });
  assert.equal(protectedHeader.alg, "HS256");
  const { cv: _, jti: __, ...claims } = payload;
  assert.deepEqual(claims, {
    sub: body.user.id,
    email: ADMIN.email,
    role: "admin",
    organization_id: "default",
    iat: seconds(app),
    exp: seconds(app) + 86_400,
  });
});

test("every failed sign-in has the same answer", async () => {
  const wrong = await app.post("/api/v1/auth/login", { ...ADMIN, password: "wrong password" });
  const unknown = await app.post("/api/v1/auth/login", { ...ADMIN, email: "no@example.com" });
  assert.deepEqual([wrong.status, unknown.status], [401, 401]);
  assert.equal(wrong.text, unknown.text);
  for (const body of [
    {},
    { email: ADMIN.email },
    { password: "x" },
    { email: "", password: "" },
    { email: "none", password: "x" },
    { email: 1, password: "x" },
    { email: ADMIN.email, password: ["x"] },
    "null",
  ]) {
    assert.equal((await app.post("/api/v1/auth/login", body)).status, 400, JSON.stringify(body));
  }
});

test("a token from elsewhere with the secret and the claims is accepted", async () => {
  const claims = {
    sub: adminId,
    email: ADMIN.email,
    role: "admin",
    organization_id: "default",
    iat: seconds(app),
    exp: seconds(app) + 60,
  };
  assert.equal((await app.get("/api/v1/auth/me", bearer(sign(claims)))).status, 200);
  const unsigned = `${sign(claims, { alg: "none" }).split(".").slice(0, 2).join(".")}.`;
  const refused: readonly (readonly [string, string])[] = [
    ["expired", sign({ ...claims, exp: seconds(app) })],
    ["without exp", sign({ ...claims, exp: undefined })],
    ["exp as text", sign({ ...claims, exp: String(claims.exp) })],
    ["not yet valid", sign({ ...claims, nbf: seconds(app) + 30 })],
    ["alg none", unsigned],
    ["alg none, signed", sign(claims, { alg: "none" })],
    ["alg HS512", sign(claims, { alg: "HS512" })],
    ["alg hs256", sign(claims, { alg: "hs256" })],
    ["another organization", sign({ ...claims, organization_id: "other" })],
    ["no organization", sign({ ...claims, organization_id: undefined })],
    ["no subject", sign({ ...claims, sub: undefined })],
    ["another credential version", sign({ ...claims, cv: 99 })],
    ["crit", sign(claims, { alg: "HS256", crit: ["x"], x: 1 })],
    ["cut short", sign(claims).slice(0, -1)],
    ["a part more", `${sign(claims)}.e30`],
    ["no JSON", `${Buffer.from("x").toString("base64url")}.e30.e30`],
    ["nothing but dots", ".."],
    ["two tokens", `${sign(claims)} ${sign(claims)}`],
  ];
  for (const [name, token] of refused) {
    assert.equal((await app.get("/api/v1/fleet", bearer(token))).status, 401, name);
    assert.equal((await app.get("/api/v1/auth/me", bearer(token))).status, 401, name);
  }
});

test("the scheme is read in any letter case", async () => {
  const { authorization = "" } = admin;
  const headers = { authorization: authorization.replace("Bearer", "bEARER") };
  assert.equal((await app.get("/api/v1/auth/me", headers)).status, 200);
});

test("a user is created, read, changed and deleted, and no answer contains the password", async () => {
  const user = { email: "Ada@Example.com", name: "Ada", role: "viewer", password: ADMIN.password };
  const created = await app.post("/api/v1/users", user, admin);
  assert.equal(created.status, 201);
  const { id, ...rest } = created.body;
  const { password, ...visible } = user;
  assert.deepEqual(rest, { ...visible, active: true, organization_id: "default" });
  const path = `/api/v1/users/${id}`;
  assert.deepEqual((await app.get(path, admin)).body, created.body);
  assert.equal((await app.get("/api/v1/users", admin)).body.users.length, 2);
  const again = await app.post("/api/v1/users", { ...user, email: "ada@EXAMPLE.com" }, admin);
  assert.equal(again.status, 409);

  const ada = await app.asUser({ email: "ADA@example.com", password });
  const changed = await app.patch(path, { name: "Countess", role: "operator" }, admin);
  assert.deepEqual(
    [changed.status, changed.body],
    [200, { ...created.body, name: "Countess", role: "operator" }],
  );
  assert.deepEqual((await app.get("/api/v1/auth/me", ada)).body, changed.body);
  assert.deepEqual((await app.patch(path, {}, admin)).body, changed.body);

  const inactive = await app.patch(path, { active: false }, admin);
  assert.equal(inactive.body.active, false);
  assert.equal((await app.get("/api/v1/auth/me", ada)).status, 401);
  assert.equal((await app.post("/api/v1/auth/login", { email: user.email, password })).status, 401);
  await app.patch(path, { active: true }, admin);
  assert.equal((await app.get("/api/v1/auth/me", ada)).status, 401, "raised by deactivation");

  const back = await app.asUser({ email: user.email, password });
  const deleted = await app.delete(path, admin);
  assert.deepEqual([deleted.status, deleted.body], [200, { id, status: "deleted" }]);
  assert.equal((await app.get("/api/v1/fleet", back)).status, 401);
  assert.equal((await app.get("/api/v1/auth/me", back)).status, 404);
  for (const answer of [
    await app.get(path, admin),
    await app.patch(path, { name: "x" }, admin),
    await app.delete(path, admin),
  ]) {
    assert.equal(answer.status, 404);
  }
});

test("an invalid user description is refused and creates nothing", async () => {
  const user = { email: "new@example.com", name: "n", role: "viewer", password: ADMIN.password };
  for (const change of [
    { email: "none" },
    { email: "" },
    { email: "a@b@c" },
    { role: "owner" },
    { role: 1 },
    { password: "123456789" },
    { password: "x".repeat(257) },
    { password: "" },
    { password: undefined },
    { name: 5 },
  ]) {
    const { status, text } = await app.post("/api/v1/users", { ...user, ...change }, admin);
    assert.equal(status, 400, JSON.stringify(change));
    assert.ok(!text.includes(ADMIN.password));
  }
  for (const change of [{ role: "owner" }, { active: "yes" }, { password: "short" }, { name: 1 }]) {
    const { status } = await app.patch(`/api/v1/users/${adminId}`, change, admin);
    assert.equal(status, 400, JSON.stringify(change));
  }
  assert.equal((await app.get("/api/v1/users", admin)).body.users.length, 1);
});

test("the last active admin cannot be removed", async () => {
  const path = `/api/v1/users/${adminId}`;
  assert.equal((await app.delete(path, admin)).status, 409);
  assert.equal((await app.patch(path, { active: false }, admin)).status, 409);
  assert.equal((await app.get("/api/v1/auth/me", admin)).body.role, "admin");
});

test("a changed password ends every token, a wrong current one is 403", async (t) => {
  const own = await start(t, SETTINGS);
  const [one, two] = [await own.asUser(ADMIN), await own.asUser(ADMIN)];
  const change = (current: string, password: string, headers = one) =>
    own.put("/api/v1/auth/password", { current, password }, headers);
  assert.equal((await change("not the password", "another password")).status, 403);
  assert.equal((await change(ADMIN.password, "short")).status, 400);
  assert.equal((await own.get("/api/v1/auth/me", two)).status, 200);
  const changed = await change(ADMIN.password, "another password");
  assert.deepEqual([changed.status, changed.body], [200, { status: "ok" }]);
  assert.equal((await own.get("/api/v1/auth/me", two)).status, 401);
  assert.equal((await own.post("/api/v1/auth/login", ADMIN)).status, 401);
  await own.restart();
  assert.equal((await own.get("/api/v1/auth/me", two)).status, 401);
  await own.asUser({ email: ADMIN.email, password: "another password" });
});

test("tokens live for the configured time, and survive a restart", async (t) => {
  const own = await start(t, { ...SETTINGS, jwtSecret: "", jwtExpiryHours: 2 });
  const headers = await own.asUser(ADMIN);
  await own.restart();
  own.advance(2 * HOUR - 1000);
  assert.equal((await own.get("/api/v1/fleet", headers)).status, 200);
  own.advance(1000);
  assert.equal((await own.get("/api/v1/fleet", headers)).status, 401);
});
