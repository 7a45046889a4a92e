/** Bursts of one client whose statements wait in the database. Meanwhile others must be served. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startWithLocks } from "../../support/locks.ts";
import { withoutPostgres } from "../../support/postgres.ts";
import { ADMIN } from "../../support/start.ts";

const skip = withoutPostgres;
const PUBLISH = "/api/public/policies";
const ACTIVE = "/api/v1/policies?active=true";
const POOL = 4;

function repeat<T>(count: number, one: (n: number) => Promise<T>): readonly Promise<T>[] {
  return Array.from({ length: count }, (_, n) => one(n));
}

test("a burst of changes of one organization does not hold up others", { skip }, async (t) => {
  const { app, lock, waiting } = await startWithLocks(t, POOL);
  const acme = await app.createOrganization("Acme", await app.asUser(ADMIN));
  const end = await lock("SELECT FROM organizations WHERE id = 'default' FOR UPDATE");
  const burst = repeat(3 * POOL, (n) => app.post(PUBLISH, { version: `p${n}`, yaml: "a: 1" }));
  await waiting(1);
  const published = await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1" }, acme.admin);
  assert.equal(published.status, 201, published.text);
  assert.equal((await app.get(ACTIVE, acme.admin)).body.version, "v1");
  assert.equal((await app.post("/api/v1/audit", { command: "ls" }, acme.admin)).status, 202);
  await end();
  // A busy machine may need longer for all this than a change waits.
  for (const { status } of await Promise.all(burst)) assert.ok([201, 503].includes(status));
});

test("a burst of changes that read first does not hold up others", { skip }, async (t) => {
  const { app, lock, waiting } = await startWithLocks(t, POOL);
  const end = await lock("LOCK policy_versions");
  const rollout = { version: "v1", stages: [{ percent: 10 }] };
  const burst = repeat(3 * POOL, () => app.post("/api/public/rollouts", rollout));
  await waiting(1);
  const beat = await app.post("/api/public/fleet/heartbeat", { name: "laptop" });
  assert.equal(beat.status, 200, beat.text);
  await end();
  for (const { status } of await Promise.all(burst)) assert.ok([404, 503].includes(status));
});

test("a burst of replaced settings does not hold up others", { skip }, async (t) => {
  const { app, lock, waiting } = await startWithLocks(t, POOL);
  const admin = await app.asUser(ADMIN);
  const end = await lock("LOCK audit_heads");
  const burst = repeat(3 * POOL, () => app.put("/api/v1/settings", { settings: [] }, admin));
  await waiting(1);
  // Enough for the whole burst to have arrived.
  for (let n = 0; n < 3 * POOL; n++) {
    const beat = await app.post("/api/public/fleet/heartbeat", { name: `laptop${n}` });
    assert.equal(beat.status, 200, beat.text);
  }
  await end();
  for (const { status } of await Promise.all(burst)) assert.ok([200, 503].includes(status));
});

test("a burst of sign-ins from one network does not hold up others", { skip }, async (t) => {
  const { app, lock, waiting } = await startWithLocks(t, POOL, { trustProxy: 1 });
  const signIn = (address: string, password: string) =>
    app.post("/api/v1/auth/login", { ...ADMIN, password }, { "x-forwarded-for": address });
  assert.equal((await signIn("192.0.2.1", "a wrong password")).status, 401);
  const end = await lock("SELECT FROM sign_in_networks WHERE network = '192.0.2.1' FOR UPDATE");
  const burst = repeat(3 * POOL, () => signIn("192.0.2.1", "a wrong password"));
  await waiting(1);
  const signedIn = await signIn("192.0.2.2", ADMIN.password);
  assert.equal(signedIn.status, 200, signedIn.text);
  assert.equal((await app.get(ACTIVE)).status, 404);
  await end();
  for (const { status } of await Promise.all(burst)) assert.ok([401, 429, 503].includes(status));
});

test("a first burst of reports asks once how much is stored", { skip }, async (t) => {
  const { app, lock, waiting } = await startWithLocks(t, POOL);
  const end = await lock("LOCK audit_heads");
  const burst = repeat(3 * POOL, () => app.post("/api/public/audit", { command: "ls" }));
  await waiting(1);
  const answer = await app.get(ACTIVE);
  assert.equal(answer.status, 404, answer.text);
  await end();
  for (const { status } of await Promise.all(burst)) assert.ok([202, 503].includes(status));
});
