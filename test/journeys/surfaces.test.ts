import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Answer } from "../support/client.ts";
import { fillIn, operationsBelow, operationsOf } from "../support/operations.ts";
import { start, type App } from "../support/start.ts";
import { SURFACES, type Prefix } from "../support/surfaces.ts";

// One open service that is only read, and two that are each used through one prefix.
const app = await start({ after }, { environment: "testing" });

/** The requests of a runtime and its operator, below a prefix. */
const SCRIPT: readonly (readonly [string, string, unknown?, Record<string, string>?])[] = [
  ["GET", "/policies?active=true"],
  ["GET", "/policies"],
  ["POST", "/policies", { yaml: "rules: []\n", version: "v1", description: "First" }],
  ["POST", "/policies", { yaml: "rules: [1]\n", version: "v2", name: "n", updated_by: "ada" }],
  ["POST", "/policies", { yaml: "rules: []\n", version: "v2" }],
  ["POST", "/policies", { yaml: "a: [" }],
  ["POST", "/policies", { yaml: "generated: true" }],
  ["POST", "/policies/v1/activate", {}],
  ["POST", "/policies/none/activate", {}],
  ["POST", "/policies/validate", { yaml: "a: [" }],
  ["POST", "/policies/simulate", { yaml: "schema: signalbox/policy/v1", command: "ls" }],
  ["POST", "/policies/simulate", { command: "ls" }],
  ["GET", "/policies"],
  ["GET", "/policies", undefined, { "X-Runtime-Client": "runtime/1.0" }],
  ["POST", "/rollouts", { version: "v2", stages: [{ names: ["build-1"] }, { percent: 5 }] }],
  ["POST", "/rollouts", { version: "v2", stages: [{ percent: 5 }] }],
  ["POST", "/rollouts", { version: "none", stages: [{ percent: 5 }] }],
  ["POST", "/rollouts", { version: "v1", stages: [{ percent: 5 }] }],
  ["POST", "/rollouts", { version: "v2", stages: [{}] }],
  ["GET", "/rollouts"],
  ["GET", "/rollouts/none"],
  ["POST", "/rollouts/none/pause", {}],
  ["GET", "/policies/v2"],
  ["GET", "/policies/none"],
  ["POST", "/audit", { id: "one", command: "kubectl get pods", decision: "allow", user: "ada" }],
  ["POST", "/audit", { events: [{ command: "git push", ai: true }, { command: "ls" }] }],
  ["POST", "/audit", { events: [] }],
  ["POST", "/audit", { durationMs: -1 }],
  ["POST", "/audit", "{"],
  ["GET", "/audit"],
  ["GET", "/audit?q=KUBE&decision=allowed&provider=kubectl&consumer=human&limit=1&offset=0"],
  ["GET", "/audit?limit=0&offset=x"],
  ["POST", "/fleet/heartbeat", { name: "r1", os: "linux" }],
  ["POST", "/runtime/heartbeat", { name: "r2", policy_version: "v1" }],
  ["POST", "/runtime/register", { name: "r1", version: "2" }],
  ["POST", "/runtime/register", { name: "r3" }],
  ["POST", "/runtime/register", {}],
  ["GET", "/fleet"],
  ["GET", "/dashboard"],
  ["GET", "/providers"],
  ["GET", "/provider-names"],
  ["GET", "/capabilities?provider=git&q=push"],
  ["GET", "/health"],
  ["PUT", "/policies", {}],
  ["OPTIONS", "/policies"],
];

/** The parts of an answer that do not depend on time, port or chance. */
function comparable({ status, headers, text }: Answer): unknown {
  const kept = ["content-type", "cache-control", "vary", "allow", "www-authenticate"];
  return {
    status,
    headers: kept.map((name) => headers.get(name)),
    text: text.replaceAll(/"(id|runtimeId)":"[^"]*"/g, '"$1":""'),
  };
}

async function played(through: App, prefix: Prefix): Promise<unknown[]> {
  const answers = [];
  for (const [method, path, body, headers] of SCRIPT) {
    const answer = await through.request(method, prefix + path, body, headers);
    answers.push({ request: `${method} ${path}`, ...(comparable(answer) as object) });
    through.advance(1000);
  }
  return answers;
}

test("the same requests get the same answers under both prefixes", async (t) => {
  const [open, enterprise] = [await start(t), await start(t)];
  assert.deepEqual(await played(open, "/api/public"), await played(enterprise, "/api/v1"));
});

test("records sent under one prefix are visible under the other", async (t) => {
  const both = await start(t);
  await played(both, "/api/public");
  for (const path of [
    "/policies",
    "/policies/v1",
    "/audit",
    "/fleet",
    "/dashboard",
    "/providers",
  ]) {
    const [open, enterprise] = [
      await both.get(`/api/public${path}`),
      await both.get(`/api/v1${path}`),
    ];
    assert.equal(open.status, 200);
    assert.equal(open.text, enterprise.text, path);
    assert.equal(open.headers.get("etag"), enterprise.headers.get("etag"), path);
  }
});

test("every public operation is on both prefixes, with the same description", async () => {
  const operations = await operationsOf(app);
  const open = operations.filter(({ path }) => path.startsWith("/api/public/"));
  assert.ok(open.length >= 14);
  for (const operation of open) {
    const path = operation.path.replace("/api/public", "/api/v1");
    const twin = operations.find((one) => one.path === path && one.method === operation.method);
    assert.ok(twin, `${operation.method} ${path}`);
    assert.deepEqual(twin.parameters, operation.parameters, path);
    assert.deepEqual(twin.body, operation.body, path);
    const successes = (statuses: readonly string[]): string[] =>
      statuses.filter((status) => status < "400");
    assert.deepEqual(successes(twin.statuses), successes(operation.statuses), path);
  }
});

const CONTRACT = {
  "/api/public": [
    "GET /audit",
    "POST /audit",
    "GET /capabilities",
    "GET /dashboard",
    "GET /fleet",
    "POST /fleet/heartbeat",
    "POST /runtime/heartbeat",
    "POST /runtime/register",
    "GET /health",
    "GET /policies",
    "POST /policies",
    "GET /policies/{version}",
    "POST /policies/{version}/activate",
    "POST /policies/validate",
    "POST /policies/simulate",
    "GET /provider-names",
    "GET /providers",
  ],
  "/api/v1": [
    "GET /api-keys",
    "POST /api-keys",
    "DELETE /api-keys/{id}",
    "POST /auth/login",
    "POST /auth/logout",
    "GET /auth/me",
    "PUT /auth/password",
    "GET /organizations",
    "POST /organizations",
    "GET /organizations/{id}",
    "PATCH /organizations/{id}",
    "GET /users",
    "POST /users",
    "GET /users/{id}",
    "PATCH /users/{id}",
    "DELETE /users/{id}",
    "GET /settings",
    "PUT /settings",
    "DELETE /fleet/{name}",
    "PUT /providers/{id}",
    "DELETE /providers/{id}",
  ],
  "": [
    "GET /",
    "GET /health",
    "GET /version",
    "GET /metadata",
    "GET /metadata/apis",
    "GET /metadata/versions",
    "GET /metadata/authentication",
    "GET /metadata/catalog",
    "GET /metadata/catalog/capabilities",
    "GET /metadata/catalog/providers",
    "GET /openapi.yaml",
    "GET /openapi.json",
  ],
};

for (const [prefix, wanted] of Object.entries(CONTRACT)) {
  test(`every operation of the contract exists under "${prefix}"`, async () => {
    const names = new Set((await operationsOf(app)).map(({ method, path }) => `${method} ${path}`));
    const missing = wanted.filter((name) => !names.has(name.replace(" ", ` ${prefix}`)));
    assert.deepEqual(missing, []);
  });
}

for (const path of [
  "/api-keys",
  "/users",
  "/organizations",
  "/settings",
  "/auth/me",
  "/auth/login",
]) {
  test(`${path} is not on the public surface`, async () => {
    assert.equal((await app.get(`/api/public${path}`)).status, 404);
    assert.equal((await app.post(`/api/public${path}`, {})).status, 404);
  });
}

test("manual changes of fleet and providers are not on the public surface", async () => {
  assert.equal((await app.delete("/api/public/fleet/r1")).status, 404);
  assert.equal((await app.put("/api/public/providers/git", { status: "offline" })).status, 404);
});

test("the unprefixed health equals that of the public surface", async () => {
  const answers = await Promise.all(
    ["/health", "/api/public/health", "/api/v1/health"].map((path) => app.get(path)),
  );
  for (const { status, text } of answers) {
    assert.equal(status, 200);
    assert.equal(text, '{"status":"ok","edition":"community"}');
  }
});

test("the public surface ignores credentials, even invalid ones", async () => {
  for (const headers of [
    { "X-API-Key": "sbx_wrong" },
    { Authorization: "Bearer wrong" },
    { Authorization: "Basic YTpi" },
  ]) {
    assert.equal((await app.get("/api/public/fleet", headers)).status, 200);
    assert.equal((await app.get("/metadata", headers)).status, 200);
    assert.equal((await app.get("/", headers)).status, 200);
  }
});

test("without a public surface each of its paths is 404, and all others work", async (t) => {
  const closed = await start(t, { publicSurface: "off" });
  for (const { method, path } of await operationsBelow(app, "/api/public/")) {
    const sent = method === "GET" ? undefined : {};
    const answer = await closed.request(method, fillIn(path), sent);
    assert.equal(answer.status, 404, `${method} ${path}`);
  }
  assert.equal((await closed.get("/api/v1/fleet")).status, 200);
  assert.equal((await closed.get("/health")).status, 200);
  const { body } = await closed.get("/metadata/apis");
  assert.equal(body.by_surface.public ?? 0, 0);
  assert.ok(!(await closed.get("/openapi.yaml")).text.includes("/api/public/"));
  const { body: metadata } = await closed.get("/metadata");
  assert.ok(!metadata.surfaces.some(({ prefix }: { prefix: string }) => prefix === SURFACES[0]));
});
