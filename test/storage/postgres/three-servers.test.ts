/** Guarantees of several servers over one database: every server gives the same answers. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DAY_MS } from "../../../src/core/clock.ts";
import { withoutPostgres } from "../../support/postgres.ts";
import { startThree } from "../../support/servers.ts";
import { ADMIN, ADMIN_SETTINGS, type App } from "../../support/start.ts";

const skip = withoutPostgres;
const ME = "/api/v1/auth/me";
const LOGIN = "/api/v1/auth/login";
const POLICIES = "/api/v1/policies";
const ROLLOUTS = "/api/v1/rollouts";
const ACTIVE = `${POLICIES}?active=true`;
const TICKETS = "/api/v1/audit/export-tickets";

const startGuarded = (t: TestContext) => startThree(t, { ...ADMIN_SETTINGS, requireAuth: true });

/** The server whose turn it is. */
function turn(servers: readonly App[], n: number): App {
  return servers[n % servers.length] as App;
}

function statusesOf(answers: readonly { readonly status: number }[]): readonly number[] {
  return answers.map(({ status }) => status).sort((a, b) => a - b);
}

async function actionsOf(server: App, action: string): Promise<readonly string[]> {
  const { entries } = (await server.get(`/api/v1/activity?action=${action}&limit=1000`)).body;
  return entries.map((entry: { target: { id: string } }) => entry.target.id);
}

test("a version that one server published is what every later fetch gets", { skip }, async (t) => {
  const servers = await startThree(t);
  for (let n = 0; n < 30; n++) {
    const version = `v${n}`;
    const { status } = await turn(servers, n).post(POLICIES, { version, yaml: `a: ${n}` });
    assert.equal(status, 201);
    const fetched = await Promise.all(servers.map((server) => server.get(ACTIVE)));
    assert.deepEqual(
      fetched.map(({ body }) => [body.version, body.yaml]),
      servers.map(() => [version, `a: ${n}`]),
    );
  }
  const [one, two, three] = servers;
  assert.equal((await two.post(`${POLICIES}/v3/activate`, {})).status, 200);
  for (const server of [one, two, three]) {
    assert.equal((await server.get(ACTIVE)).body.version, "v3");
  }
});

test(
  "a version that one server published answers the fetches that wait on the others",
  { skip },
  async (t) => {
    const servers = await startThree(t);
    const [one, two, three] = servers;
    await one.post(POLICIES, { version: "v1", yaml: "a: 1" });
    const etag = (await one.get(ACTIVE)).headers.get("etag") ?? "";
    const waiting = servers.map((server) =>
      server.get(`${ACTIVE}&wait=60`, { "If-None-Match": etag }),
    );
    await one.post(POLICIES, { version: "v2", yaml: "a: 2" });
    const answers = await Promise.all(waiting);
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.version]),
      servers.map(() => [200, "v2"]),
    );
    const named = {
      "X-Runtime-Name": "ada",
      "If-None-Match": answers[1]?.headers.get("etag") ?? "",
    };
    const selected = two.get(`${ACTIVE}&wait=60`, named);
    assert.equal(
      (await three.post(ROLLOUTS, { version: "v1", stages: [{ names: ["ada"] }] })).status,
      201,
    );
    assert.equal((await selected).body.version, "v1");
  },
);

test(
  "if one version is published at all servers at once, one server stores it",
  { skip },
  async (t) => {
    const servers = await startThree(t);
    const published = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        turn(servers, n).post(POLICIES, { version: `v${n % 3}`, yaml: `a: ${n}` }),
      ),
    );
    assert.deepEqual(statusesOf(published), [
      ...Array.from({ length: 3 }, () => 201),
      ...Array.from({ length: 27 }, () => 409),
    ]);
    const { policies } = (await servers[1].get(POLICIES)).body;
    assert.equal(policies.filter(({ active }: { active: boolean }) => active).length, 1);
    assert.deepEqual([...(await actionsOf(servers[2], "policy.publish"))].sort(), [
      "v0",
      "v1",
      "v2",
    ]);
  },
);

test("generated names differ, whichever servers make them", { skip }, async (t) => {
  const servers = await startThree(t);
  const published = await Promise.all(
    Array.from({ length: 24 }, (_, n) => turn(servers, n).post(POLICIES, { yaml: `a: ${n}` })),
  );
  assert.equal(new Set(published.map(({ body }) => body.version)).size, 24);
});

test("a revoked key is refused everywhere from then on", { skip }, async (t) => {
  const [one, two, three] = await startGuarded(t);
  const admin = await one.asUser(ADMIN);
  for (let n = 0; n < 10; n++) {
    const { id, key } = await two.createKey(`agents ${n}`, admin);
    assert.equal((await three.get("/api/v1/policies?active=true", key)).status, 404);
    assert.equal((await one.delete(`/api/v1/api-keys/${id}`, admin)).status, 200);
    const answers = await Promise.all([one, two, three].map((server) => server.get(ACTIVE, key)));
    assert.deepEqual(statusesOf(answers), [401, 401, 401]);
  }
});

test("a token is good at every server, and ended at every one", { skip }, async (t) => {
  const [one, two, three] = await startGuarded(t);
  const [token, other] = [await one.asUser(ADMIN), await two.asUser(ADMIN)];
  assert.equal((await three.get(ME, token)).status, 200);
  assert.equal((await two.post("/api/v1/auth/logout", undefined, token)).status, 200);
  const answers = await Promise.all([one, two, three].map((server) => server.get(ME, token)));
  assert.deepEqual(statusesOf(answers), [401, 401, 401]);
  assert.equal((await one.get(ME, other)).status, 200);
});

test("a changed password ends the tokens at every server", { skip }, async (t) => {
  const [one, two, three] = await startGuarded(t);
  const token = await one.asUser(ADMIN);
  const body = { current: ADMIN.password, password: "another horse battery" };
  assert.equal((await two.put("/api/v1/auth/password", body, token)).status, 200);
  const answers = await Promise.all([one, two, three].map((server) => server.get(ME, token)));
  assert.deepEqual(statusesOf(answers), [401, 401, 401]);
  assert.equal((await three.post(LOGIN, { ...ADMIN })).status, 401);
  assert.equal((await three.post(LOGIN, { ...ADMIN, password: body.password })).status, 200);
});

test("a deactivated user is refused everywhere", { skip }, async (t) => {
  const [one, two, three] = await startGuarded(t);
  const admin = await one.asUser(ADMIN);
  const { id } = await two.createUser({ email: "bob@example.com" }, admin);
  const bob = await three.asUser({ ...ADMIN, email: "bob@example.com" });
  assert.equal((await two.get(ME, bob)).status, 200);
  await one.patch(`/api/v1/users/${id}`, { active: false }, admin);
  const answers = await Promise.all([one, two, three].map((server) => server.get(ME, bob)));
  assert.deepEqual(statusesOf(answers), [401, 401, 401]);
});

test("if two admins delete each other at two servers at once, one stays", { skip }, async (t) => {
  const [one, two, three] = await startGuarded(t);
  const admin = await one.asUser(ADMIN);
  const { id } = await one.createUser({ email: "eve@example.com", role: "admin" }, admin);
  const eve = await two.asUser({ ...ADMIN, email: "eve@example.com" });
  const { id: own } = (await one.get(ME, admin)).body;
  const answers = await Promise.all([
    one.delete(`/api/v1/users/${id}`, admin),
    two.delete(`/api/v1/users/${own}`, eve),
  ]);
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  const { users } = (await three.get("/api/v1/users", answers[0].status === 200 ? admin : eve))
    .body;
  assert.equal(users.length, 1);
});

test("a ticket is redeemed once over all servers", { skip }, async (t) => {
  const servers = await startGuarded(t);
  const admin = await servers[0].asUser(ADMIN);
  await servers[0].post("/api/v1/audit", { id: "a", command: "git push" }, admin);
  for (let n = 0; n < 10; n++) {
    const { url } = (await turn(servers, n).post(TICKETS, { q: "git" }, admin)).body;
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, m) => turn(servers, m).get(url)),
    );
    assert.deepEqual(statusesOf(answers), [200, 404, 404, 404, 404, 404]);
  }
});

test("a ticket is refused everywhere once its credentials are", { skip }, async (t) => {
  const [one, two, three] = await startGuarded(t);
  const admin = await one.asUser(ADMIN);
  const { id, key } = await one.createKey("agents", admin);
  const { url } = (await two.post(TICKETS, {}, key)).body;
  await three.delete(`/api/v1/api-keys/${id}`, admin);
  assert.equal((await one.get(url)).status, 404);
});

test("failed sign-ins count over all servers", { skip }, async (t) => {
  const servers = await startGuarded(t);
  const guess = { email: ADMIN.email, password: "not the password" };
  for (let n = 0; n < 5; n++) {
    assert.equal((await turn(servers, n).post(LOGIN, guess)).status, 401);
  }
  const answers = await Promise.all(servers.map((server) => server.post(LOGIN, { ...ADMIN })));
  assert.deepEqual(statusesOf(answers), [429, 429, 429]);
  for (const server of servers) server.advance(60_000);
  assert.equal((await servers[2].post(LOGIN, { ...ADMIN })).status, 200);
});

test("guesses sent to all servers at once are no more than to one", { skip }, async (t) => {
  const servers = await startGuarded(t);
  const guess = { email: ADMIN.email, password: "not the password" };
  const answers = await Promise.all(
    Array.from({ length: 18 }, (_, n) => turn(servers, n).post(LOGIN, guess)),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
});

test("a runtime that reports to all servers at once is one runtime", { skip }, async (t) => {
  const servers = await startThree(t);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      turn(servers, n).post("/api/v1/runtime/register", { name: `r${n % 5}`, os: `os ${n}` }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 5);
  const lists = await Promise.all(servers.map((server) => server.get("/api/v1/fleet")));
  for (const { body } of lists) assert.deepEqual(body, lists[0]?.body);
  assert.equal(lists[0]?.body.runtimes.length, 5);
});

test("organizations and emails are taken over all servers", { skip }, async (t) => {
  const servers = await startGuarded(t);
  const admin = await servers[0].asUser(ADMIN);
  const create = (server: App, email: string) =>
    server.post(
      "/api/v1/organizations",
      { name: "Acme", slug: "acme", admin_email: email, admin_password: ADMIN.password },
      admin,
    );
  const same = await Promise.all(servers.map((server, n) => create(server, `a${n}@acme.example`)));
  assert.deepEqual(statusesOf(same), [201, 409, 409]);
  const users = await Promise.all(
    servers.map((server) =>
      server.post(
        "/api/v1/users",
        { email: "b@b.example", role: "viewer", password: ADMIN.password },
        admin,
      ),
    ),
  );
  assert.deepEqual(statusesOf(users), [201, 409, 409]);
});

test("each change has one entry in the activity log, read anywhere", { skip }, async (t) => {
  const servers = await startThree(t, ADMIN_SETTINGS);
  const names = Array.from({ length: 40 }, (_, n) => `key ${n}`);
  const made = await Promise.all(
    names.map((name, n) => turn(servers, n).post("/api/v1/api-keys", { name })),
  );
  const ids = made.map(({ body }) => body.id).sort();
  const admin = await servers[0].asUser(ADMIN);
  const { entries } = (await servers[1].get("/api/v1/activity?action=key.create&limit=100", admin))
    .body;
  assert.deepEqual(entries.map(({ target }: { target: { id: string } }) => target.id).sort(), ids);
});

test(
  "failures that a server counted with a wrong clock do not count for years",
  { skip },
  async (t) => {
    const [one, two] = await startGuarded(t);
    one.advance(365 * DAY_MS);
    for (let n = 0; n < 5; n++) {
      const { status } = await one.post(LOGIN, { ...ADMIN, password: "a wrong password" });
      assert.equal(status, 401);
    }
    assert.equal((await one.post(LOGIN, ADMIN)).status, 429);
    assert.equal((await two.post(LOGIN, ADMIN)).status, 200);
  },
);
