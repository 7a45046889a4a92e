import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fillIn, operationsBelow, operationsOf, type Operation } from "../support/operations.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// Permissions: every operation with every kind of credential, on one service whose switch changes
// while it runs. No request here changes anything: bodies are refused after access.
let isRequired: unknown = false;
const app = await start(
  { after },
  {
    ...ADMIN_SETTINGS,
    requireAuth: () => {
      if (isRequired === "failing") throw new Error("The switch is broken");
      return isRequired as boolean;
    },
  },
);
const token = await app.asUser(ADMIN);
const { key } = await app.createKey("runtime", token);
const { id: revokedId, key: revoked } = await app.createKey("revoked", token);
await app.delete(`/api/v1/api-keys/${revokedId}`);
const signed = token["authorization"] ?? "";
const wrongToken = { authorization: `${signed.slice(0, -6)}AAAAAA` };
const wrongKey = { "x-api-key": `sbx_${"A".repeat(43)}` };

const RUNTIME = new Set([
  "GET /policies",
  "GET /policies/{version}",
  "GET /audit",
  "POST /audit",
  "POST /otlp/v1/logs",
  "POST /fleet/heartbeat",
  "POST /runtime/heartbeat",
  "POST /runtime/register",
]);
const ALWAYS = new Set(["GET /auth/me", "POST /auth/logout", "PUT /auth/password"]);
// An export ticket in the path is a credential itself, so that a browser can follow a link.
const OPEN = new Set(["POST /auth/login", "GET /audit/export-tickets/{ticket}/file"]);

type Access = "open" | "runtime" | "user" | "always";
type Credential = keyof typeof CREDENTIALS;

const CREDENTIALS = {
  "no credential": {},
  "a key": key,
  "a token": token,
  "a key and a token": { ...key, ...token },
  "a wrong key": wrongKey,
  "a revoked key": revoked,
  "an empty key": { "x-api-key": "" },
  "a wrong token": wrongToken,
  "an empty token": { authorization: "Bearer " },
  "a token and a wrong key": { ...token, ...wrongKey },
  "a wrong token and a key": { ...wrongToken, ...key },
  "another scheme": { authorization: "Basic YTpi" },
  "a token in another scheme": { authorization: signed.replace("Bearer", "Token") },
} as const satisfies Record<string, Record<string, string>>;

/** The valid credentials, each with the accesses that it has while the switch is on. */
const OPENS: Readonly<Partial<Record<Credential, readonly Access[]>>> = {
  "no credential": ["open"],
  "a key": ["open", "runtime"],
  "a token": ["open", "runtime", "user", "always"],
  "a key and a token": ["open", "runtime", "user", "always"],
  "another scheme": ["open"],
  "a token in another scheme": ["open"],
};

function accessOf({ method, path }: Operation): Access {
  const name = `${method} ${path.replace("/api/v1", "")}`;
  if (OPEN.has(name)) return "open";
  if (ALWAYS.has(name)) return "always";
  const isAudit = name.startsWith("GET /audit") || name === "POST /audit/export-tickets";
  return RUNTIME.has(name) || isAudit ? "runtime" : "user";
}

/** The rule of the contract: whether the caller gets access. */
function isLetIn(access: Access, credential: Credential, required: boolean): boolean {
  if (access === "open") return true; // signing in ignores credentials
  const opens = OPENS[credential];
  if (opens === undefined) return false; // invalid credentials are never treated as missing ones
  return opens.includes(access) || (!required && access !== "always");
}

/** The status of a request whose body would be refused, or which finds nothing. */
async function statusOf(operation: Operation, given: Record<string, string>): Promise<number> {
  const path = fillIn(operation.path);
  const body = operation.body === undefined ? undefined : "[";
  const method = path.endsWith("/stream") ? "HEAD" : operation.method; // its response ends
  const isEnding = path.endsWith("/auth/logout") && given["authorization"] === signed;
  const headers = isEnding ? { ...given, ...(await app.asUser(ADMIN)) } : given;
  const answer = await app.request(method, path, body, headers);
  if (answer.status === 401) {
    const challenge = answer.headers.get("www-authenticate") ?? "";
    const { authorization = "" } = given;
    const isTokenRefused = authorization.startsWith("Bearer") && authorization !== signed;
    assert.equal(challenge.includes('error="invalid_token"'), isTokenRefused, challenge);
  }
  return answer.status;
}

const v1 = await operationsBelow(app, "/api/v1/");

for (const required of [false, true]) {
  for (const operation of v1) {
    const access = accessOf(operation);
    test(`${operation.method} ${operation.path} (${access}), required: ${required}`, async () => {
      isRequired = required;
      for (const [name, headers] of Object.entries(CREDENTIALS)) {
        const status = await statusOf(operation, headers);
        const wanted = isLetIn(access, name as Credential, required);
        assert.equal(status !== 401, wanted, `${name}: ${status}`);
        assert.ok(status < 500, `${name}: ${status}`);
      }
    });
  }
}

test("a switch that fails, or returns anything but a boolean, requires credentials", async () => {
  for (const [value, status] of [
    [false, 200],
    ["failing", 401],
    [undefined, 401],
    ["false", 401],
    [0, 401],
    [null, 401],
    [true, 401],
    [false, 200],
  ] as const) {
    isRequired = value;
    assert.equal((await app.get("/api/v1/fleet")).status, status, String(value));
    assert.equal((await app.get("/api/public/fleet")).status, 200);
  }
});

test("unprefixed routes and the public surface require no credentials", async () => {
  isRequired = true;
  const rest = (await operationsOf(app)).filter(({ path }) => !path.startsWith("/api/v1/"));
  assert.ok(rest.length > 0);
  for (const operation of rest) {
    for (const headers of [{}, wrongKey, wrongToken]) {
      const status = await statusOf(operation, headers);
      assert.ok(status !== 401 && status !== 403 && status < 500, operation.path);
    }
  }
});

test("access is decided before the body and before the record", async () => {
  isRequired = true;
  assert.equal((await app.post("/api/v1/policies", "not json")).status, 401);
  assert.equal((await app.get("/api/v1/policies/none")).status, 401);
  assert.equal((await app.get("/api/v1/none")).status, 404);
  assert.equal((await app.put("/api/v1/policies", {})).status, 405);
});

test("the refused requests have changed nothing", async () => {
  isRequired = false;
  assert.deepEqual((await app.get("/api/v1/policies")).body.policies, []);
  assert.equal((await app.get("/api/v1/audit")).body.total, 0);
  assert.deepEqual((await app.get("/api/v1/fleet")).body.runtimes, []);
  assert.equal((await app.get("/api/v1/users")).body.users.length, 1);
  assert.equal((await app.get("/api/v1/organizations")).body.organizations.length, 1);
});
