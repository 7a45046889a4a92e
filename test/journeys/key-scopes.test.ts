import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fillIn, operationsBelow, type Operation } from "../support/operations.ts";
import { PUBLISHING_ROUTES } from "../support/publishing-routes.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// Every operation of /api/v1 with a key of every scope, while credentials are required and while
// they are not. No request here changes anything: bodies are refused after scopes.
let isRequired = true;
const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: () => isRequired });
const admin = await app.asUser(ADMIN);

const SCOPES = ["runtime", "report", "policy", "night shift"] as const;
type Scope = (typeof SCOPES)[number];

const keys = new Map<Scope, Record<string, string>>();
for (const scopes of SCOPES) {
  const { body } = await app.post("/api/v1/api-keys", { name: scopes, scopes }, admin);
  keys.set(scopes, { "x-api-key": body.api_key });
}

/** The permissions of each scope in docs/runtimes.md. Any other text acts as `runtime`. */
const READS = ["GET /policies", "GET /policies/{version}"];
const REPORTS = [
  "POST /audit",
  "POST /otlp/v1/logs",
  "POST /fleet/heartbeat",
  "POST /runtime/heartbeat",
  "POST /runtime/register",
];
const AUDIT = [
  "GET /audit",
  "GET /audit/{id}",
  "GET /audit/histogram",
  "GET /audit/facets",
  "GET /audit/checkpoint",
  "GET /audit/verifier",
  "GET /audit/consistency",
  "GET /audit/{id}/proof",
  "GET /audit/tile/{level}/{a}",
  "GET /audit/tile/{level}/{a}/{b}",
  "GET /audit/tile/{level}/{a}/{b}/{c}",
  "GET /audit/tile/{level}/{a}/{b}/{c}/{d}",
  "GET /audit/export",
  "GET /audit/stream",
  "POST /audit/export-tickets",
];
const INCLUDED: Readonly<Record<Scope, readonly string[]>> = {
  runtime: [...READS, ...REPORTS, ...AUDIT],
  report: [...READS, ...REPORTS],
  policy: [...READS, ...PUBLISHING_ROUTES],
  "night shift": [...READS, ...REPORTS, ...AUDIT],
};
const TAKES_KEYS = new Set(Object.values(INCLUDED).flat());
const OPEN = ["POST /auth/login", "GET /audit/export-tickets/{ticket}/file"];
const ALWAYS = ["GET /auth/me", "POST /auth/logout", "PUT /auth/password"];

type Wanted = "let in" | 401 | 403;

/** The expected outcome of a request with only a key. */
function wanted(name: string, scope: Scope, required: boolean): Wanted {
  if (OPEN.includes(name) || INCLUDED[scope].includes(name)) return "let in";
  if (ALWAYS.includes(name)) return 401;
  // Beyond its routes the contract rules for a runtime key, and requires a 401.
  const isLimited = scope === "report" || scope === "policy";
  if (required) return isLimited && TAKES_KEYS.has(name) ? 403 : 401;
  return isLimited ? 403 : "let in";
}

function nameOf({ method, path }: Operation): string {
  return `${method} ${path.replace("/api/v1", "")}`;
}

const v1 = await operationsBelow(app, "/api/v1/");

for (const required of [true, false]) {
  for (const operation of v1) {
    const name = nameOf(operation);
    for (const [scope, key] of keys) {
      const expected = wanted(name, scope, required);
      test(`a ${scope} key at ${name}, required: ${required}: ${expected}`, async () => {
        isRequired = required;
        const path = fillIn(operation.path);
        const body = operation.body === undefined ? undefined : "[";
        const method = path.endsWith("/stream") ? "HEAD" : operation.method;
        const { status, text } = await app.request(method, path, body, key);
        const got = status === 401 || status === 403 ? status : "let in";
        assert.equal(got, expected, text);
        if (method !== "HEAD" && status === 403) {
          assert.match(text, new RegExp(`This API key has the scope ${scope}, which does not`));
        }
      });
    }
  }
}

test("the tables of this test name existing operations", () => {
  const all = new Set(v1.map(nameOf));
  assert.deepEqual(
    [...TAKES_KEYS, ...OPEN, ...ALWAYS].filter((name) => !all.has(name)),
    [],
  );
});

test("the document and the list of operations name the scopes of each operation", async () => {
  const { body } = await app.get("/metadata/apis");
  for (const operation of v1) {
    const name = nameOf(operation);
    const scopes = (["runtime", "report", "policy"] as const).filter((scope) =>
      INCLUDED[scope].includes(name),
    );
    const { key_scopes: told = [] } = body.operations.find(
      (one: { method: string; path: string }) =>
        one.method === operation.method && one.path === operation.path,
    );
    assert.deepEqual(told, scopes, name);
    const words = scopes.map((scope) => `\`${scope}\``).join(" or ");
    const description = String(operation.raw["description"] ?? "");
    assert.equal(/Takes API keys of the scope (.+)\./.exec(description)?.[1] ?? "", words, name);
  }
});

test("a key that may only report is refused for reading, with its scope", async () => {
  isRequired = true;
  const answer = await app.get("/api/v1/audit", keys.get("report"));
  assert.equal(answer.status, 403);
  assert.equal(
    answer.body.error,
    "This API key has the scope report, which does not include reading the audit",
  );
});

interface Entry {
  readonly action: string;
  readonly actor: { readonly name: string };
  readonly before?: object;
  readonly after?: object;
}

test("a policy key publishes and activates under its own name", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const token = await own.asUser(ADMIN);
  const asked = { name: "deployment", scopes: "policy" };
  const { body } = await own.post("/api/v1/api-keys", asked, token);
  const key = { "x-api-key": body.api_key };
  const policy = { version: "v1", yaml: "rules: []" };
  assert.equal((await own.post("/api/v1/policies", policy, key)).status, 201);
  const second = { ...policy, version: "v2", activate: false };
  assert.equal((await own.post("/api/v1/policies", second, key)).body.active, false);
  const answer = await own.post("/api/v1/policies/v2/activate", {}, key);
  assert.deepEqual([answer.status, answer.body.active], [200, true]);
  const { entries } = (await own.get("/api/v1/activity?action=policy", token)).body;
  assert.deepEqual(
    entries.map(({ action, actor, before, after }: Entry) => [action, actor.name, before, after]),
    [
      ["policy.activate", "deployment", { active: "v1" }, { active: "v2" }],
      ["policy.publish", "deployment", undefined, { activated: false, name: "enterprise-policy" }],
      [
        ...["policy.publish", "deployment"],
        ...[{ active: "" }, { active: "v1", name: "enterprise-policy" }],
      ],
    ],
  );
});

test("beside a token, a key's scope does not apply", async () => {
  isRequired = true;
  const both = { ...keys.get("report"), ...admin };
  assert.equal((await app.get("/api/v1/audit", both)).status, 200);
});

test("the warning names a scope without limits", async () => {
  const warningOf = async (scopes?: string): Promise<string> => {
    const { body } = await app.post("/api/v1/api-keys", { name: "k", scopes }, admin);
    return body.warning;
  };
  const plain = await warningOf();
  assert.match(plain, /^Store this key now/);
  for (const scope of ["runtime", "report", "policy"]) assert.equal(await warningOf(scope), plain);
  assert.match(
    await warningOf("read-only"),
    /^Store this key now.+\. The scope "read-only" limits nothing, and the key acts as runtime: expected runtime, report, policy$/,
  );
});
