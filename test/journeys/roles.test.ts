import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fillIn, operationsBelow, type Operation } from "../support/operations.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// Every operation of /api/v1 for every role, carried and enforced. No request here changes
// anything: bodies are refused after roles, and no record has the ids.
const ROLES = ["viewer", "operator", "admin"] as const;
type Role = (typeof ROLES)[number];

/** The lowest role for each operation that viewers may not use, as in docs/api.md. */
const LEAST: Readonly<Record<string, Role>> = {
  "POST /policies": "operator",
  "POST /policies/{version}/activate": "operator",
  "POST /rollouts": "operator",
  "POST /rollouts/{id}/advance": "operator",
  "POST /rollouts/{id}/pause": "operator",
  "POST /rollouts/{id}/resume": "operator",
  "POST /rollouts/{id}/roll_back": "operator",
  "POST /audit": "operator",
  "POST /otlp/v1/logs": "operator",
  "POST /fleet/heartbeat": "operator",
  "POST /runtime/heartbeat": "operator",
  "POST /runtime/register": "operator",
  "DELETE /fleet/{name}": "operator",
  "PUT /providers/{id}": "operator",
  "DELETE /providers/{id}": "operator",
  "POST /api-keys": "operator",
  "DELETE /api-keys/{id}": "operator",
  "POST /users": "admin",
  "PATCH /users/{id}": "admin",
  "DELETE /users/{id}": "admin",
  "PUT /settings": "admin",
  "POST /organizations": "admin",
  "PATCH /organizations/{id}": "admin",
};
/** The operations of every user, beside reading. */
const VIEWER = [
  "POST /policies/validate",
  "POST /policies/simulate",
  "POST /policies/replay",
  "POST /audit/redact",
  "POST /policies/draft-rule",
  "POST /audit/export-tickets",
  "POST /auth/login",
  "POST /auth/logout",
  "PUT /auth/password",
];

const emailOf = (role: Role) => (role === "admin" ? ADMIN.email : `${role}@example.com`);

async function startWith(roles: "carried" | "enforced") {
  const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true, roles });
  const admin = await app.asUser(ADMIN);
  const signIn = async (role: Role): Promise<Record<string, string>> => {
    const email = emailOf(role);
    await app.createUser({ email, role }, admin);
    return { ...(await app.asUser({ email, password: ADMIN.password })) };
  };
  return {
    app,
    tokens: { viewer: await signIn("viewer"), operator: await signIn("operator"), admin },
  };
}

const services = { carried: await startWith("carried"), enforced: await startWith("enforced") };

function nameOf({ method, path }: Operation): string {
  return `${method} ${path.replace("/api/v1", "")}`;
}

async function send(
  { app, tokens }: (typeof services)["carried"],
  operation: Operation,
  role: Role,
) {
  const path = fillIn(operation.path);
  const body = operation.body === undefined ? undefined : "[";
  const method = path.endsWith("/stream") ? "HEAD" : operation.method; // a stream does not end
  const signIn = () => app.asUser({ email: emailOf(role), password: ADMIN.password });
  const headers = path.endsWith("/auth/logout") ? await signIn() : tokens[role];
  return app.request(method, path, body, headers);
}

const v1 = await operationsBelow(services.enforced.app, "/api/v1/");

for (const operation of v1) {
  const name = nameOf(operation);
  const least = LEAST[name] ?? "viewer";
  for (const role of ROLES) {
    const isRefused = ROLES.indexOf(role) < ROLES.indexOf(least);
    test(`${role} at ${name}: ${isRefused ? "refused" : "accepted"} while roles are enforced`, async () => {
      const answer = await send(services.enforced, operation, role);
      assert.equal(answer.status === 403, isRefused, answer.text);
      const suffices = least === "admin" ? "admin" : "operator or admin";
      const said = `This takes the role ${suffices}; yours is ${role}`;
      if (isRefused) assert.equal(answer.body.error, said);
    });
    test(`${role} at ${name}: accepted while roles are carried`, async () => {
      assert.notEqual((await send(services.carried, operation, role)).status, 403);
    });
  }
}

test("the tables of this test name existing operations, and all of them that are not GET", () => {
  const writing = v1.filter(({ method }) => method !== "GET").map(nameOf);
  assert.deepEqual(writing.sort(), [...Object.keys(LEAST), ...VIEWER].sort());
});

test("the list of operations and the OpenAPI document name the same roles", async () => {
  const { app } = services.enforced;
  const { body } = await app.get("/metadata/apis");
  const told = new Map<string, string | undefined>(
    body.operations.map((one: { method: string; path: string; role?: string }) => [
      `${one.method} ${one.path}`,
      one.role,
    ]),
  );
  for (const operation of v1) {
    const { method, path, raw, statuses } = operation;
    const least = LEAST[nameOf(operation)];
    const role = told.get(`${method} ${path}`);
    assert.equal(role, operation.security.length === 0 ? undefined : (least ?? "viewer"), path);
    const words = /Takes the role ([a-z ]+)\./.exec(String(raw["description"] ?? ""))?.[1];
    const expected = { admin: "admin", operator: "operator or admin", viewer: undefined };
    assert.equal(words, expected[least ?? "viewer"], path);
    if (least !== undefined) assert.ok(statuses.includes("403"), path);
  }
  assert.equal((await app.get("/metadata/authentication")).body.roles, "enforced");
});

test("roles do not restrict keys, the public surface, or callers without credentials", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, roles: "enforced" });
  const event = { command: "git push" };
  const { key } = await app.createKey("agents");
  assert.equal((await app.post("/api/v1/audit", event, key)).status, 202);
  assert.equal((await app.post("/api/public/audit", event)).status, 202);
  assert.equal((await app.put("/api/v1/settings", { settings: [] })).status, 200);
});

test("a changed role applies from the next request on", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true, roles: "enforced" });
  const admin = await app.asUser(ADMIN);
  const user = { email: "vera@example.com", role: "viewer" };
  const { id } = await app.createUser(user, admin);
  const vera = await app.asUser({ email: user.email, password: ADMIN.password });
  const create = () => app.post("/api/v1/api-keys", { name: "agents" }, vera);
  assert.equal((await create()).status, 403);
  await app.patch(`/api/v1/users/${id}`, { role: "operator" }, admin);
  assert.equal((await create()).status, 201);
  await app.patch(`/api/v1/users/${id}`, { role: "viewer" }, admin);
  assert.equal((await create()).status, 403);
});

test("organizations are created by admins of the default organization", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true, roles: "enforced" });
  const admin = await app.asUser(ADMIN);
  const acme = await app.createOrganization("Acme", admin);
  const answer = await app.post("/api/v1/organizations", "not json", acme.admin);
  assert.equal(answer.status, 403);
  assert.match(answer.body.error, /default organization/);
});

test("a viewer may change the own password", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true, roles: "enforced" });
  const { password } = ADMIN;
  const email = "vera@example.com";
  await app.createUser({ email, role: "viewer" }, await app.asUser(ADMIN));
  const vera = await app.asUser({ email, password });
  const body = { current: password, password: "another long password" };
  assert.equal((await app.put("/api/v1/auth/password", body, vera)).status, 200);
});

for (const [settings, warning] of [
  [{ requireAuth: true }, /^requireAuth=true with roles=carried: every user may do everything/],
  [{ roles: "enforced" }, /^roles=enforced with requireAuth=false: roles restrict signed-in/],
  [{ requireAuth: true, roles: "enforced" }, undefined],
  [{}, undefined],
] as const) {
  const when = JSON.stringify(settings);
  test(`with ${when} the start ${warning ? "warns" : "does not warn"} of roles`, async (t) => {
    const lines: string[] = [];
    const writeLog = (line: string): void => void lines.push(line);
    await start(t, { ...settings, logLevel: "warn", writeLog });
    const ofRoles = lines
      .map((line) => (JSON.parse(line) as { message: string }).message)
      .filter((message) => message.includes("roles="));
    assert.equal(ofRoles.length, warning ? 1 : 0, lines.join(""));
    if (warning) assert.match(ofRoles[0] ?? "", warning);
  });
}
