import assert from "node:assert/strict";
import { after, test } from "node:test";
import { READINGS_AN_HOUR } from "../../src/activity/readings.ts";
import { HOUR_MS } from "../../src/core/clock.ts";
import { PREFIXES, type RouteDescription } from "../../src/http/route.ts";
import { routes } from "../../src/routes.ts";
import type { SentBody, SentHeaders } from "../support/client.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

const YAML = "rules: []";
const PASSWORD = "another good password";

/** A request that changes something, after its prerequisites were made. */
interface Sample {
  readonly path: string;
  readonly body?: SentBody;
  readonly headers?: SentHeaders;
}

/** For each row that changes something, a request that makes it do so once. */
const SAMPLES: Readonly<Record<string, (app: App, admin: SentHeaders) => Promise<Sample>>> = {
  "POST /policies": async () => ({ path: "/policies", body: { yaml: YAML } }),
  "POST /policies/{version}/activate": async (app, headers) => {
    await app.post("/api/v1/policies", { version: "a", yaml: YAML }, headers);
    await app.post("/api/v1/policies", { version: "b", yaml: YAML }, headers);
    return { path: "/policies/a/activate", body: {} };
  },
  "POST /rollouts": async (app, headers) => ({
    path: "/rollouts",
    body: await rollout(app, headers),
  }),
  "POST /rollouts/{id}/advance": (app, headers) => step(app, headers, "advance"),
  "POST /rollouts/{id}/pause": (app, headers) => step(app, headers, "pause"),
  "POST /rollouts/{id}/resume": (app, headers) => step(app, headers, "resume"),
  "POST /rollouts/{id}/roll_back": (app, headers) => step(app, headers, "roll_back"),
  "POST /api-keys": async () => ({ path: "/api-keys", body: { name: "ci" } }),
  "DELETE /api-keys/{id}": async (app, headers) => ({
    path: `/api-keys/${(await app.createKey("old", headers)).id}`,
  }),
  "POST /auth/login": async () => ({ path: "/auth/login", body: ADMIN }),
  "POST /auth/logout": async (app) => ({
    path: "/auth/logout",
    headers: await app.asUser(ADMIN),
  }),
  "PUT /auth/password": async (app, headers) => {
    const user = { email: "pass@example.com", password: ADMIN.password };
    await app.createUser(user, headers);
    const body = { current: ADMIN.password, password: PASSWORD };
    return { path: "/auth/password", body, headers: await app.asUser(user) };
  },
  "POST /users": async () => ({
    path: "/users",
    body: { email: "new@example.com", name: "New", role: "viewer", password: PASSWORD },
  }),
  "PATCH /users/{id}": async (app, headers) => ({
    path: `/users/${(await app.createUser({ email: "c@example.com" }, headers)).id}`,
    body: { role: "viewer", password: PASSWORD },
  }),
  "DELETE /users/{id}": async (app, headers) => ({
    path: `/users/${(await app.createUser({ email: "d@example.com" }, headers)).id}`,
  }),
  "POST /organizations": async () => ({
    path: "/organizations",
    body: { name: "Acme", admin_email: "a@acme.example.com", admin_password: PASSWORD },
  }),
  "PATCH /organizations/{id}": async () => ({
    path: "/organizations/default",
    body: { name: "Ours" },
  }),
  "PUT /settings": async () => ({
    path: "/settings",
    body: { settings: [{ key: "theme", value: "dark" }] },
  }),
  "PUT /providers/{id}": async () => ({ path: "/providers/git", body: { status: "offline" } }),
  "DELETE /providers/{id}": async (app, headers) => {
    await app.put("/api/v1/providers/aws", { status: "offline" }, headers);
    return { path: "/providers/aws" };
  },
  "DELETE /fleet/{name}": async (app, headers) => {
    await app.post("/api/v1/fleet/heartbeat", { name: "r1" }, headers);
    return { path: "/fleet/r1" };
  },
  "GET /audit/export": async () => ({ path: "/audit/export?format=csv" }),
  "POST /audit/export-tickets": async () => ({ path: "/audit/export-tickets", body: {} }),
  "GET /audit/export-tickets/{ticket}/file": async (app, headers) => {
    const { body } = await app.post("/api/v1/audit/export-tickets", { q: "git" }, headers);
    return { path: body.url.replace(PREFIXES.v1, "") };
  },
};

/** The body of a rollout that can begin: no other one is open, and the version is not the active one. */
async function rollout(app: App, headers: SentHeaders) {
  const { body } = await app.get("/api/v1/rollouts", headers);
  for (const { id, state } of body.rollouts) {
    if (state !== "running" && state !== "paused") continue;
    await app.post(`/api/v1/rollouts/${id}/roll_back`, {}, headers);
  }
  await app.post("/api/v1/policies", { yaml: YAML }, headers);
  const next = await app.post("/api/v1/policies", { yaml: YAML, activate: false }, headers);
  return { version: next.body.version as string, stages: [{ percent: 5 }, { percent: 50 }] };
}

/** A step of a new rollout. */
async function step(app: App, headers: SentHeaders, name: string): Promise<Sample> {
  const { body } = await app.post("/api/v1/rollouts", await rollout(app, headers), headers);
  if (name === "resume") await app.post(`/api/v1/rollouts/${body.id}/pause`, {}, headers);
  return { path: `/rollouts/${body.id}/${name}`, body: {} };
}

const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });
const admin = await app.asUser(ADMIN);

/** The newest entry, and the number of entries. */
async function newest(own: App, headers: SentHeaders, query = "") {
  const { status, body, text } = await own.get(`/api/v1/activity?limit=1${query}`, headers);
  assert.equal(status, 200, text);
  return { total: body.total as number, entry: body.entries[0] };
}

const rows: readonly RouteDescription[] = routes;
const nameOf = ({ method, path }: RouteDescription): string => `${method} ${path}`;

test("every row other than GET declares one of a change, a report and a question", () => {
  const odd = rows.filter(({ method, change, report, question }) => {
    if (method === "GET") return report || question; // an export has an entry, too
    return [change, report, question].filter((kind) => kind !== undefined).length !== 1;
  });
  assert.deepEqual(odd.map(nameOf), []);
});

test("each row with a sample below declares a change", () => {
  const saying = rows.filter(({ change }) => change !== undefined).map(nameOf);
  assert.deepEqual(saying.sort(), Object.keys(SAMPLES).sort());
});

test("reports of runtimes and questions do not count as changes", () => {
  assert.deepEqual(
    rows
      .filter(({ report, question }) => report || question)
      .map(nameOf)
      .sort(),
    [
      "POST /audit",
      "POST /audit/redact",
      "POST /fleet/heartbeat",
      "POST /otlp/v1/logs",
      "POST /policies/draft-rule",
      "POST /policies/replay",
      "POST /policies/simulate",
      "POST /policies/validate",
      "POST /runtime/heartbeat",
      "POST /runtime/register",
    ],
  );
});

for (const row of rows.filter(({ change }) => change !== undefined)) {
  test(`${nameOf(row)} writes one entry, which names actor and action`, async () => {
    const sample = await SAMPLES[nameOf(row)]?.(app, admin);
    assert.ok(sample, "This row has no sample: add one above");
    const before = await newest(app, admin);
    const path = PREFIXES.v1 + sample.path;
    const answer = await app.request(row.method, path, sample.body, sample.headers ?? admin);
    assert.ok(answer.status === 200 || answer.status === 201, answer.text);
    const { total, entry } = await newest(app, admin);
    assert.equal(total, before.total + 1);
    assert.equal(entry.action, row.change?.action);
    assert.equal(entry.outcome, "done");
    assert.equal(entry.actor.kind, "user");
    assert.equal(entry.surface, "v1");
    assert.equal(entry.organization_id, "default");
    assert.equal(entry.request_id, answer.headers.get("x-request-id"));
    assert.ok(entry.target.type);
  });
}

test("reports, queries and refused requests write no entry", async () => {
  const before = await newest(app, admin);
  for (const [method, path, body] of [
    ["POST", "/audit", { command: "git push" }],
    ["POST", "/audit/redact", { text: "git push" }],
    ["POST", "/otlp/v1/logs", {}],
    ["POST", "/fleet/heartbeat", { name: "r2" }],
    ["POST", "/runtime/heartbeat", { name: "r2" }],
    ["POST", "/runtime/register", { name: "r2" }],
    ["POST", "/policies/validate", { yaml: YAML }],
    ["POST", "/policies/simulate", { yaml: YAML, command: "git push" }],
    ["POST", "/policies/replay", { yaml: "schema: signalbox/policy/v1\nrules: []" }],
    ["POST", "/policies", { yaml: "" }],
    ["POST", "/policies/none/activate", {}],
    ["DELETE", "/users/none", undefined],
    ["PUT", "/auth/password", { current: "wrong password", password: PASSWORD }],
    ["HEAD", "/audit/export", undefined],
    ["GET", "/activity", undefined],
  ] as const) {
    await app.request(method, `/api/v1${path}`, body, admin);
  }
  await app.post("/api/v1/api-keys", { name: "nobody's" });
  assert.deepEqual(await newest(app, admin), before);
});

test("an anonymous change is recorded with its address", async (t) => {
  const open = await start(t);
  await open.post("/api/public/policies", { version: "v1", yaml: YAML, updated_by: "mallory" });
  const { entry } = await newest(open, {});
  assert.deepEqual(
    { ...entry, id: undefined, request_id: undefined },
    {
      id: undefined,
      request_id: undefined,
      organization_id: "default",
      timestamp: "2026-11-20T20:30:00.000Z",
      actor: { kind: "anonymous" },
      address: "127.0.0.1",
      surface: "public",
      action: "policy.publish",
      target: { type: "policy", id: "v1" },
      before: { active: "" },
      after: { active: "v1", name: "enterprise-policy" },
      outcome: "done",
    },
  );
});

test("an entry has the state before and after", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const headers = await own.asUser(ADMIN);
  const changeOf = async () => {
    const { entry } = await newest(own, headers);
    return [entry.before, entry.after];
  };
  await own.post("/api/v1/policies", { version: "v1", yaml: YAML }, headers);
  await own.post("/api/v1/policies", { version: "v2", yaml: YAML }, headers);
  await own.post("/api/v1/policies/v1/activate", {}, headers);
  assert.deepEqual(await changeOf(), [{ active: "v2" }, { active: "v1" }]);

  const { id } = await own.createUser({ email: "c@example.com", name: "C" }, headers);
  await own.patch(`/api/v1/users/${id}`, { role: "viewer", active: false }, headers);
  assert.deepEqual(await changeOf(), [
    { name: "C", role: "operator", active: true },
    { name: "C", role: "viewer", active: false },
  ]);

  const settings = (...pairs: [string, string][]) => ({
    settings: pairs.map(([key, value]) => ({ key, value })),
  });
  await own.put("/api/v1/settings", settings(["a", "1"], ["b", "2"], ["c", "3"]), headers);
  const long = "x".repeat(1000);
  await own.put("/api/v1/settings", settings(["b", "2"], ["c", long], ["d", "4"]), headers);
  assert.deepEqual(await changeOf(), [
    { a: "1", c: "3" },
    { c: `${"x".repeat(256)}…`, d: "4" },
  ]);

  await own.patch("/api/v1/organizations/default", { name: "Ours" }, headers);
  assert.deepEqual(await changeOf(), [{ name: "Default" }, { name: "Ours" }]);

  await own.put("/api/v1/providers/git", { status: "offline" }, headers);
  await own.put("/api/v1/providers/git", { status: "degraded" }, headers);
  assert.deepEqual(await changeOf(), [{ status: "offline" }, { status: "degraded" }]);
  await own.delete("/api/v1/providers/git", headers);
  assert.deepEqual(await changeOf(), [{ status: "degraded" }, undefined]);
});

test("a request that changes nothing has no entry, and the next change has one", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const headers = await own.asUser(ADMIN);
  const user = await own.createUser({ email: "c@example.com", name: "C" }, headers);
  const key = await own.createKey("ci", headers);
  const pairs = (theme: string) => ({ settings: [{ key: "theme", value: theme }] });
  await own.post("/api/v1/policies", { version: "v1", yaml: YAML }, headers);
  await own.post("/api/v1/policies", { version: "v2", yaml: YAML }, headers);
  const steps = [
    ["POST", "/policies/v1/activate", {}],
    ["PATCH", `/users/${user.id}`, { role: "viewer", name: "D", active: false }],
    ["PUT", "/settings", pairs("dark")],
    ["PUT", "/settings", { settings: [] }],
    ["PUT", "/providers/git", { status: "offline" }],
    ["PATCH", "/organizations/default", { name: "Ours" }],
    ["DELETE", `/api-keys/${key.id}`, undefined],
    ["PATCH", `/users/${user.id}`, { password: PASSWORD }],
  ] as const;
  for (const [method, path, body] of steps) {
    const { total } = await newest(own, headers);
    const send = () => own.request(method, `/api/v1${path}`, body, headers);
    assert.equal((await send()).status, 200);
    assert.equal((await newest(own, headers)).total, total + 1, path);
    assert.equal((await send()).status, 200);
    // The same password is hashed anew and ends all tokens, so it is a change.
    const isChange = body !== undefined && "password" in body;
    assert.equal((await newest(own, headers)).total, total + (isChange ? 2 : 1), path);
  }
  const { total } = await newest(own, headers);
  await own.post("/api/public/policies/v1/activate", {});
  assert.equal((await newest(own, headers)).total, total);
});

test("of two concurrent activations, each that changed something has an entry", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/policies", { version: "v1", yaml: YAML });
  await own.post("/api/v1/policies", { version: "v2", yaml: YAML });
  const activate = (version: string) => own.post(`/api/v1/policies/${version}/activate`, {});
  await Promise.all([activate("v1"), activate("v2")]);
  const { body } = await own.get("/api/v1/activity?action=policy.activate");
  const changes = body.entries.map(({ before, after }: { before: unknown; after: unknown }) => [
    before,
    after,
  ]);
  const [toFirst, toSecond] = [
    [{ active: "v2" }, { active: "v1" }],
    [{ active: "v1" }, { active: "v2" }],
  ];
  const { active } = (await own.get("/api/v1/policies")).body;
  assert.deepEqual(changes, active === "v2" ? [toSecond, toFirst] : [toFirst]);
});

test("each of many concurrent publishes and activations names the version that it replaced", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/policies", { version: "v0", yaml: YAML });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0
        ? own.post("/api/v1/policies", { version: `v${i + 1}`, yaml: YAML })
        : own.post("/api/v1/policies/v0/activate", {}),
    ),
  );
  const { body } = await own.get("/api/v1/activity?limit=1000");
  const links = body.entries.map(({ before, after }: Record<string, { active: string }>) => [
    before?.["active"] ?? "",
    after?.["active"] ?? "",
  ]);
  // Each version was replaced as often as it became active, except the last one.
  const count = (at: 0 | 1, version: string) =>
    links.filter((link: readonly string[]) => link[at] === version).length;
  const { active } = (await own.get("/api/v1/policies")).body;
  for (const version of new Set<string>(links.flat())) {
    const difference = count(1, version) - count(0, version);
    assert.equal(difference, version === "" ? -1 : version === active ? 1 : 0, version);
  }
});

test("each of many concurrent statuses and lifts names the status that it replaced", async (t) => {
  const own = await start(t);
  const path = "/api/v1/providers/git";
  await own.put(path, { status: "connected" });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0
        ? own.put(path, { status: i % 4 === 0 ? "degraded" : "offline" })
        : own.delete(path),
    ),
  );
  const last = await own.delete(path); // now no status is set, as at first
  assert.ok([200, 404].includes(last.status));
  const { body } = await own.get("/api/v1/activity?action=provider&limit=1000");
  const statusesOf = (name: "before" | "after"): readonly string[] =>
    body.entries.map((entry: Record<string, { status?: string }>) => entry[name]?.status ?? "");
  assert.deepEqual(statusesOf("before").toSorted(), statusesOf("after").toSorted());
});

test("the deletion of a user names the user as the last change left it", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const headers = await own.asUser(ADMIN);
  const deleteChanged = async (n: number): Promise<void> => {
    const { id } = await own.createUser({ email: `u${n}@example.com`, name: "before" }, headers);
    const [changed] = await Promise.all([
      own.patch(`/api/v1/users/${id}`, { name: "after" }, headers),
      own.delete(`/api/v1/users/${id}`, headers),
    ]);
    const { entry } = await newest(own, headers, `&action=user.delete&target=${id}`);
    assert.equal(entry.before.name, changed.status === 200 ? "after" : "before");
  };
  await Promise.all(Array.from({ length: 10 }, (_, n) => deleteChanged(n)));
});

test("the actor of a download is the one who requested its ticket", async () => {
  const filters = { q: "git", executor: "a*", wildcards: "executor" };
  const { body } = await app.post("/api/v1/audit/export-tickets", filters, admin);
  assert.equal((await app.get(body.url)).status, 200);
  const { entry } = await newest(app, admin);
  assert.equal(entry.action, "audit.export");
  assert.equal(entry.actor.email, ADMIN.email);
  assert.deepEqual(entry.after, { format: "ndjson", ...filters });
});

test("one credential has so many entries of exports in an hour, and the last one says so", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const headers = await own.asUser(ADMIN);
  const { key } = await own.createKey("puller", headers);
  const pull = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      const { status } = await own.get("/api/v1/audit/export?q=git", key);
      assert.equal(status, 200);
    }
  };
  await pull(READINGS_AN_HOUR + 5);
  const filled = await newest(own, headers, "&action=audit.export");
  assert.equal(filled.total, READINGS_AN_HOUR);
  const until = new Date(own.now + HOUR_MS).toISOString();
  const filters = { q: "git", format: "ndjson", bom: "false" };
  assert.deepEqual(filled.entry.after, { ...filters, unrecorded_until: until });
  assert.equal((await own.get("/api/v1/audit/export", headers)).status, 200);
  assert.equal((await newest(own, headers, "&action=audit.export")).total, READINGS_AN_HOUR + 1);
  own.advance(HOUR_MS);
  await pull(1);
  const later = await newest(own, headers, "&action=audit.export");
  assert.equal(later.total, READINGS_AN_HOUR + 2);
  assert.deepEqual(later.entry.after, filters);
});

test("a failed sign-in is recorded in the email's organization, an unknown email in the default one", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const headers = await own.asUser(ADMIN);
  const acme = await own.createOrganization("Acme", headers);
  const email = "admin@acme.example.com";
  const signIn = (who: string) =>
    own.post("/api/v1/auth/login", { email: who, password: "a wrong password" });
  for (let i = 0; i < 5; i++) assert.equal((await signIn(email)).status, 401);
  assert.equal((await signIn("nobody@example.com")).status, 401);
  assert.equal((await signIn(email)).status, 429);

  const known = await newest(own, acme.admin, "&action=login.failed");
  assert.equal(known.total, 5); // a throttled attempt has no entry: attackers cannot fill the disk
  const { actor, target, outcome, before, after: now } = known.entry;
  assert.deepEqual(actor, { kind: "anonymous" });
  assert.deepEqual(target, { type: "user", name: email });
  assert.equal(outcome, "refused");
  assert.deepEqual([before, now], [undefined, undefined]);
  const unknown = await newest(own, headers, "&action=login.failed");
  assert.equal(unknown.total, 1);
  assert.equal(unknown.entry.target.name, "nobody@example.com");
});

test("organizations see their own entries only", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const headers = await own.asUser(ADMIN);
  const acme = await own.createOrganization("Acme", headers);
  await own.post("/api/v1/policies", { version: "secret", yaml: YAML }, acme.admin);
  const { body } = await own.get("/api/v1/activity", acme.admin);
  const actions = body.entries.map(({ action }: { action: string }) => action);
  assert.deepEqual(actions, ["policy.publish", "login.succeeded"]);
  assert.equal((await newest(own, headers, "&target=secret")).total, 0);
});

test("the log requires a token, and is not on the public surface", async () => {
  assert.equal((await app.get("/api/v1/activity")).status, 401);
  const { key } = await app.createKey("runtime", admin);
  assert.equal((await app.get("/api/v1/activity", key)).status, 401);
  assert.equal((await app.get("/api/public/activity")).status, 404);
});

test("pages are newest first and can be filtered", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS });
  const headers = await own.asUser(ADMIN);
  const { id } = (await own.get("/api/v1/auth/me", headers)).body;
  for (const version of ["v1", "v2", "v3"]) {
    own.advance(60_000);
    await own.post("/api/v1/policies", { version, yaml: YAML }, headers);
  }
  await own.post("/api/public/policies/v1/activate", {});
  const targets = async (query: string): Promise<readonly string[]> => {
    const { status, body, text } = await own.get(`/api/v1/activity?${query}`, headers);
    assert.equal(status, 200, text);
    assert.equal(body.returned, body.entries.length);
    return body.entries.map(({ target }: { target: { id: string } }) => target.id);
  };
  assert.deepEqual(await targets(""), ["v1", "v3", "v2", "v1", id]);
  assert.deepEqual(await targets("limit=2&offset=1"), ["v3", "v2"]);
  assert.deepEqual(await targets("offset=9"), []);
  assert.deepEqual(await targets("action=policy.publish"), ["v3", "v2", "v1"]);
  assert.deepEqual(await targets("action=policy"), ["v1", "v3", "v2", "v1"]);
  assert.deepEqual(await targets("action=polic"), []);
  assert.deepEqual(await targets("actor=anonymous"), ["v1"]);
  assert.deepEqual(await targets(`actor=${ADMIN.email.toUpperCase()}`), ["v3", "v2", "v1", id]);
  assert.deepEqual(await targets("target=v1"), ["v1", "v1"]);
  assert.deepEqual(await targets("q=PUBLISH&to=2026-11-20T20:32:00Z"), ["v1"]);
  assert.deepEqual(await targets("from=2026-11-20T20:32:00Z&action=policy.publish"), ["v3", "v2"]);
  await own.restart();
  assert.deepEqual(await targets("limit=2"), ["v1", "v3"]);
});

for (const query of ["limit=0", "limit=1001", "limit=x", "offset=-1", "from=today", "to=1"]) {
  test(`${query} is refused by name`, async () => {
    const { status, body } = await app.get(`/api/v1/activity?${query}`, admin);
    assert.equal(status, 400);
    assert.match(body.error, new RegExp(`^${query.split("=")[0]}: `));
  });
}
