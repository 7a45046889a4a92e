import assert from "node:assert/strict";
import { test } from "node:test";
import { validate } from "../../src/core/validate.ts";
import {
  apisDocument,
  authenticationDocument,
  metadataDocument,
  versionDocument,
  versionsDocument,
} from "../../src/metadata/documents.ts";
import { metadataAuthentication } from "../../src/metadata/schema.ts";
import {
  metadata,
  metadataApis,
  metadataVersions,
  versionInfo,
} from "../../src/metadata/schema.ts";
import { routes } from "../../src/routes.ts";
import { describeService } from "../support/service-description.ts";
import { start } from "../support/start.ts";
import { sampleRows } from "./sample-rows.ts";

const service = describeService(sampleRows);

test("every document matches its schema and has no other fields", () => {
  const documents = [
    [metadata, metadataDocument(service)],
    [metadataApis, apisDocument(service)],
    [metadataVersions, versionsDocument(service)],
    [metadataAuthentication, authenticationDocument(service)],
    [versionInfo, versionDocument(service)],
  ] as const;
  for (const [schema, document] of documents)
    assert.deepEqual(validate(schema, document), document);
});

test("the build reports its uptime in whole seconds, and the JavaScript engine in place of Go", () => {
  const { version } = metadataDocument(service);
  assert.deepEqual(version, {
    version: "1.2.3",
    commit: "unknown",
    build_time: "unknown",
    go: `node/${process.versions.node}`,
    started_at: "2026-11-20T20:30:00.000Z",
    uptime_seconds: 90,
  });
});

test("an uptime is never negative, even if the clock runs backwards", () => {
  const back = describeService(sampleRows, { now: () => 0 });
  assert.equal(versionDocument(back).uptime_seconds, 0);
});

test("the metadata document links every document of the service", async () => {
  const { contracts, metadata: documents, portal } = metadataDocument(describeService(routes));
  const base = "https://signalbox.test";
  assert.deepEqual(documents, {
    ...documents,
    version: `${base}/version`,
    metadata: `${base}/metadata`,
    apis: `${base}/metadata/apis`,
    versions: `${base}/metadata/versions`,
    authentication: `${base}/metadata/authentication`,
    catalog: `${base}/metadata/catalog`,
    catalog_capabilities: `${base}/metadata/catalog/capabilities`,
    catalog_providers: `${base}/metadata/catalog/providers`,
    policy_schema_json: `${base}/metadata/policy.schema.json`,
  });
  assert.equal(contracts["openapi"], `${base}/openapi.yaml`);
  assert.equal(contracts["openapi_json"], `${base}/openapi.json`);
  assert.equal(contracts["catalog"], `${base}/metadata/catalog`);
  assert.deepEqual(portal, { ...portal, home: `${base}/`, api: `${base}/portal/api` });
  const links = Object.values({ ...contracts, ...documents, ...portal });
  assert.deepEqual(
    links.filter((link) => /\.css|undefined|\{/.test(link)),
    [],
  );
});

test("the required credentials are computed on each request", () => {
  let isRequired = false;
  const live = describeService(sampleRows, { requireAuth: () => isRequired });
  const v1 = (): string | undefined =>
    metadataDocument(live).surfaces.find(({ prefix }) => prefix === "/api/v1")?.auth;
  assert.deepEqual([authenticationDocument(live).require_auth, v1()], [false, "optional"]);
  isRequired = true;
  assert.deepEqual([authenticationDocument(live).require_auth, v1()], [true, "required"]);
});

test("a public surface that is off is reported as off, and nowhere else", () => {
  const closed = describeService(sampleRows, { publicSurface: "off" });
  const prefixes = metadataDocument(closed).surfaces.map(({ prefix }) => prefix);
  assert.deepEqual(prefixes, ["/api/v1", "/"]);
  assert.deepEqual(versionDocument(closed).surfaces, ["/api/v1"]);
  assert.deepEqual(apisDocument(closed).by_surface, { v1: 3, portal: 1 });
  assert.deepEqual(versionsDocument(closed).api_surfaces, [
    { prefix: "/api/public", status: "off", version: "v1" },
    { prefix: "/api/v1", status: "stable", version: "v1" },
  ]);
});

test("the list of operations counts each row once on each surface", () => {
  const { total, by_surface, operations } = apisDocument(service);
  assert.equal(total, 6);
  assert.deepEqual(by_surface, { public: 2, v1: 3, portal: 1 });
  assert.deepEqual(operations[3], {
    method: "POST",
    path: "/api/v1/wagons",
    summary: "Add a wagon",
    auth: "JWT when REQUIRE_AUTH=true",
    role: "operator",
    surface: "v1",
    tags: ["fleet"],
  });
  const { role, key_scopes } = operations[2] ?? {};
  assert.deepEqual({ role, key_scopes }, { role: "viewer", key_scopes: ["runtime"] });
  const unrestricted = operations.filter(({ role }) => role === undefined);
  assert.deepEqual([...new Set(unrestricted.map(({ surface }) => surface))], ["public", "portal"]);
});

test("the document about authentication names the mode of roles and the grants of each scope", () => {
  const document = authenticationDocument(describeService(sampleRows, { roles: "enforced" }));
  assert.equal(document.roles, "enforced");
  assert.equal(
    document.key_scopes["report"],
    "reading policies, reporting audit events and reporting to the fleet",
  );
});

test("the versions document names the contract's version and its format", () => {
  assert.deepEqual(versionsDocument(service).openapi, { api_version: "v1", spec: "3.1.0" });
});

test("the documents of a running service name its own address and follow its clock", async (t) => {
  const app = await start(t, { environment: "staging", edition: "enterprise" });
  app.advance(61_000);
  const { body: document } = await app.get("/metadata");
  assert.equal(document.base_url, app.url);
  assert.equal(document.environment, "staging");
  assert.equal(document.version.uptime_seconds, 61);
  assert.match(document.version.version, /^\d+\.\d+\.\d+/);
  for (const link of Object.values<string>({ ...document.metadata, ...document.contracts })) {
    assert.equal((await app.get(link.replace(app.url, ""))).status, 200, link);
  }
  for (const prefix of ["", "/api/public", "/api/v1"]) {
    const { body } = await app.get(`${prefix}/health`);
    assert.deepEqual(body, { status: "ok", edition: "enterprise" });
  }
});

test("each request reports the current switch for authentication", async (t) => {
  let isRequired = false;
  const app = await start(t, { requireAuth: () => isRequired });
  assert.equal((await app.get("/metadata/authentication")).body.require_auth, false);
  assert.equal((await app.get("/api/v1/health")).status, 200);
  isRequired = true;
  assert.equal((await app.get("/metadata/authentication")).body.require_auth, true);
  assert.equal((await app.get("/api/v1/health")).status, 401);
  for (const path of ["/", "/health", "/version", "/metadata", "/openapi.json", "/portal/api"]) {
    assert.equal((await app.get(path)).status, 200, path);
  }
});

test("operations of a public surface that is off are neither served nor documented", async (t) => {
  const app = await start(t, { publicSurface: "off" });
  const { body } = await app.get("/openapi.json");
  assert.deepEqual(
    Object.keys(body.paths).filter((path) => path.startsWith("/api/public")),
    [],
  );
  assert.match(body.info.description, /`\/api\/public` is disabled/);
  assert.doesNotMatch(body.info.description, /open to everybody/);
  assert.equal((await app.get("/api/public/health")).status, 404);
  assert.equal((await app.get("/api/v1/health")).status, 200);
});
