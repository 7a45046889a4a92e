import assert from "node:assert/strict";
import { after, test } from "node:test";
import { policyDocument } from "../../src/policies/document-schema.ts";
import { operationsBelow, operationsOf } from "../support/operations.ts";
import { PUBLISHING_ROUTES } from "../support/publishing-routes.ts";
import { start, START_TIME } from "../support/start.ts";

let isRequired = false;
const app = await start({ after }, { requireAuth: () => isRequired, environment: "staging" });

function authOf(surfaces: { prefix: string; auth: string }[], prefix: string): string | undefined {
  return surfaces.find((one) => one.prefix === prefix)?.auth;
}

test("/version states build, platform and uptime", async (t) => {
  const own = await start(t);
  own.advance(90_999);
  const { body } = await own.get("/version");
  assert.equal(body.service, "signalbox");
  assert.equal(body.go, `node/${process.versions.node}`);
  assert.equal(body.started_at, START_TIME);
  assert.equal(body.uptime_seconds, 90);
  assert.deepEqual(body.surfaces, ["/api/public", "/api/v1"]);
  assert.equal(body.environment, "development");
  const build = (await own.get("/metadata/versions")).body.build;
  const { service: _, environment: __, surfaces: ___, ...rest } = body;
  assert.deepEqual(build, rest);
  assert.deepEqual((await own.get("/metadata")).body.version, rest);
});

test("the environment and the edition are reported as configured", async (t) => {
  const own = await start(t, { environment: "prod é", edition: "enterprise" });
  for (const path of ["/version", "/metadata", "/metadata/versions", "/metadata/authentication"]) {
    assert.equal((await own.get(path)).body.environment, "prod é", path);
  }
  for (const path of ["/health", "/api/v1/health", "/api/v1/settings"]) {
    assert.equal((await own.get(path)).body.edition, "enterprise", path);
  }
});

test("every link of the metadata leads somewhere", async () => {
  const { body } = await app.get("/metadata");
  const links = [
    body.health,
    ...Object.values(body.contracts),
    ...Object.values(body.metadata),
    ...Object.values(body.portal),
  ] as string[];
  for (const link of links) {
    assert.ok(link.startsWith(app.url), link);
    assert.equal((await app.get(link.slice(app.url.length) || "/")).status, 200, link);
  }
  const linked = links.map((link) => new URL(link).pathname);
  for (const path of [
    "/metadata/apis",
    "/metadata/versions",
    "/metadata/authentication",
    "/metadata/catalog",
    "/metadata/catalog/capabilities",
    "/metadata/catalog/providers",
    "/openapi.yaml",
  ]) {
    assert.ok(linked.includes(path), path);
  }
});

test("the present state of the switch is reported", async () => {
  for (const value of [false, true, false]) {
    isRequired = value;
    const { body } = await app.get("/metadata/authentication");
    assert.equal(body.require_auth, value);
    assert.equal(body.api_keys_accepted, true);
    assert.equal(body.runtime_client_header, "X-Runtime-Client");
    const v1 = authOf(body.surfaces, "/api/v1");
    assert.notEqual(v1, undefined);
    assert.equal(authOf((await app.get("/metadata")).body.surfaces, "/api/v1"), v1);
    assert.equal(v1 === "optional", !value);
    assert.equal(authOf(body.surfaces, "/api/public"), "none");
  }
});

test("the list of operations is the OpenAPI document's", async () => {
  const { body } = await app.get("/metadata/apis");
  const documented = await operationsOf(app);
  const key = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
  const listed: string[] = body.operations.map(key);
  assert.deepEqual(
    documented.map(key).filter((one) => !listed.includes(one)),
    [],
  );
  assert.equal(body.total, body.operations.length);
  const counts: Record<string, number> = {};
  for (const { surface } of body.operations) counts[surface] = (counts[surface] ?? 0) + 1;
  assert.deepEqual(body.by_surface, counts);
  assert.deepEqual(Object.keys(counts).sort(), ["portal", "public", "v1"]);
  assert.equal(new Set(listed).size, listed.length);
});

test("the versions document names both surfaces and the contract's format", async () => {
  const { body } = await app.get("/metadata/versions");
  assert.deepEqual(
    body.api_surfaces.map(({ prefix }: { prefix: string }) => prefix),
    ["/api/public", "/api/v1"],
  );
  assert.deepEqual(body.openapi, { api_version: "v1", spec: "3.1.0" });
});

test("the OpenAPI document comes in two formats, each with its own entity tag", async () => {
  const yaml = await app.get("/openapi.yaml");
  const json = await app.get("/openapi.json");
  assert.equal(yaml.status, 200);
  assert.match(yaml.text, /^openapi: ["']?3\.1\.0["']?$/m);
  assert.match(yaml.headers.get("content-type") ?? "", /yaml/);
  assert.equal(json.body.openapi, "3.1.0");
  assert.deepEqual(Object.keys(json.body.components.securitySchemes).sort(), [
    "apiKeyAuth",
    "bearerAuth",
  ]);
  assert.equal(json.body.components.securitySchemes.apiKeyAuth.name, "X-API-Key");
  for (const { path, headers } of [
    { path: "/openapi.yaml", headers: yaml.headers },
    { path: "/openapi.json", headers: json.headers },
  ]) {
    const tag = headers.get("etag") ?? "";
    assert.equal((await app.get(path, { "If-None-Match": tag })).status, 304);
  }
});

test("the JSON Schema of policies is served to everyone, and only once to a client that keeps it", async (t) => {
  const own = await start(t, { requireAuth: true });
  const path = "/metadata/policy.schema.json";
  const { status, body, headers } = await own.get(path);
  assert.equal(status, 200);
  assert.deepEqual(body, JSON.parse(JSON.stringify(policyDocument)));
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  const tag = headers.get("etag") ?? "";
  assert.equal((await own.get(path, { "If-None-Match": tag })).status, 304);
  assert.equal((await own.get("/metadata")).body.contracts.policy_schema_json, own.url + path);
});

test("the base URL is the configured one, without a slash at the end", async (t) => {
  const own = await start(t, { baseUrl: "https://box.example.com/" });
  const { body } = await own.get("/metadata");
  assert.equal(body.base_url, "https://box.example.com");
  assert.equal(body.health, "https://box.example.com/health");
  const document = (await own.get("/openapi.json")).body;
  assert.equal(document.servers[0].url, "https://box.example.com");
  assert.equal((await own.get("/metadata/apis")).body.base_url, "https://box.example.com");
});

const RUNTIME = [
  "GET /policies",
  "GET /policies/{version}",
  "GET /audit",
  "POST /audit",
  "POST /otlp/v1/logs",
  "POST /fleet/heartbeat",
  "POST /runtime/heartbeat",
  "POST /runtime/register",
];
test("the document states which routes accept a key, and which always require a token", async () => {
  const v1 = await operationsBelow(app, "/api/v1/");
  const named = (fits: (schemes: readonly string[][]) => boolean): string[] =>
    v1
      .filter(({ security }) => fits(security.map((one) => Object.keys(one))))
      .map(({ method, path }) => `${method} ${path.replace("/api/v1", "")}`)
      .filter((name) => !name.includes("/audit/"))
      .sort();
  assert.deepEqual(
    named((schemes) => schemes.flat().includes("apiKeyAuth")),
    [...RUNTIME, ...PUBLISHING_ROUTES].sort(),
  );
  assert.deepEqual(
    named((schemes) => schemes.length > 0 && schemes.every(([one]) => one === "bearerAuth")),
    ["GET /auth/me", "POST /auth/logout", "PUT /auth/password"],
  );
});

test("every operation of the document has summary, tag, id and descriptions", async () => {
  const operations = await operationsOf(app);
  const ids = operations.map(({ raw }) => raw["operationId"]);
  assert.equal(new Set(ids).size, operations.length);
  for (const { path, raw, statuses } of operations) {
    assert.ok(raw["summary"] && (raw["tags"] as unknown[]).length > 0, path);
    assert.ok(
      statuses.some((status) => status < "300"),
      path,
    );
  }
});
