import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import spectralRulesets from "@stoplight/spectral-rulesets";
import type { RolesMode } from "../../src/core/roles.ts";
import { openApiDocument } from "../../src/metadata/openapi.ts";
import { routes } from "../../src/routes.ts";
import { sampleRows } from "./sample-rows.ts";

// Both are CommonJS modules whose export names Node does not find.
const { Spectral } = spectralCore;
const { oas } = spectralRulesets;

const ABOUT = {
  baseUrl: "https://signalbox.test",
  version: "1.2.3",
  roles: "carried",
  requireAuth: false,
  surfaces: ["public", "v1", "portal"],
} as const;

/** The deployments whose documents differ. */
const DEPLOYMENTS = [
  ABOUT,
  { ...ABOUT, requireAuth: true, roles: "enforced", surfaces: ["v1", "portal"] },
] as const;

// oxlint-disable-next-line typescript/no-explicit-any -- a JSON document, looked into below
function document(rows = sampleRows, about = ABOUT as Parameters<typeof openApiDocument>[1]): any {
  return JSON.parse(JSON.stringify(openApiDocument(rows, about)));
}

test("the document of every row passes an independent linter without errors or warnings", async () => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  for (const about of DEPLOYMENTS) {
    const source = JSON.stringify(openApiDocument(routes, about));
    const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
    const found = problems.map(
      ({ severity, ruleId, message, location }) =>
        `${severity} ${ruleId} at ${location[0]?.pointer}: ${message}`,
    );
    assert.deepEqual(found, []);
  }
});

test("the document passes the rules of another linter, Spectral's, as well", async () => {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas as unknown as RulesetDefinition] }); // the two types disagree
  for (const about of DEPLOYMENTS) {
    const problems = await spectral.run(document(routes, about));
    assert.deepEqual(
      problems.map(({ code, path, message }) => `${code} at ${path.join("/")}: ${message}`),
      [],
    );
  }
});

test("a row becomes one operation on each of its surfaces, each with its own id", () => {
  const { paths } = document();
  assert.deepEqual(Object.keys(paths), [
    "/api/public/wagons",
    "/api/v1/wagons",
    "/api/v1/wagons/{id}/brakes",
    "/",
  ]);
  assert.equal(paths["/api/public/wagons"].get.operationId, "getPublicWagons");
  assert.equal(paths["/api/v1/wagons"].post.operationId, "postV1Wagons");
  assert.equal(paths["/api/v1/wagons/{id}/brakes"].get.operationId, "getV1WagonsByIdBrakes");
  assert.equal(paths["/"].get.operationId, "getRoot");
});

test("a surface that is not served is not documented", () => {
  const { paths } = document(sampleRows, { ...ABOUT, surfaces: ["portal"] });
  assert.deepEqual(Object.keys(paths), ["/"]);
});

test("credentials are documented on /api/v1 only, and are optional while the switch is off", () => {
  const { paths } = document();
  assert.deepEqual(paths["/api/public/wagons"].post.security, []);
  assert.deepEqual(paths["/"].get.security, []);
  assert.deepEqual(paths["/api/v1/wagons"].get.security, [
    { bearerAuth: [] },
    { apiKeyAuth: [] },
    {},
  ]);
  assert.deepEqual(paths["/api/v1/wagons"].post.security, [{ bearerAuth: [] }, {}]);
  assert.deepEqual(paths["/api/v1/wagons/{id}/brakes"].get.security, [{ bearerAuth: [] }]);
});

test("while credentials are required, no operation on /api/v1 is documented as anonymous", () => {
  const { paths } = document(sampleRows, { ...ABOUT, requireAuth: true });
  assert.deepEqual(paths["/api/v1/wagons"].get.security, [{ bearerAuth: [] }, { apiKeyAuth: [] }]);
  assert.deepEqual(paths["/api/v1/wagons"].post.security, [{ bearerAuth: [] }]);
  assert.deepEqual(paths["/api/public/wagons"].post.security, []);
});

test("an operation's refusals are those of its row and those that follow from it", () => {
  const { paths } = document();
  const refusals = (path: string, method: string): readonly string[] =>
    Object.keys(paths[path][method].responses).filter((status) => Number(status) >= 400);
  assert.deepEqual(refusals("/api/public/wagons", "get"), [
    "400",
    "408",
    "421",
    "431",
    "500",
    "503",
  ]);
  assert.deepEqual(refusals("/api/v1/wagons", "get"), [
    "400",
    "401",
    "403",
    "408",
    "421",
    "431",
    "500",
    "503",
  ]);
  assert.deepEqual(refusals("/api/public/wagons", "post"), [
    "400",
    "408",
    "409",
    "413",
    "415",
    "421",
    "429",
    "431",
    "500",
    "503",
    "507",
  ]);
  assert.deepEqual(refusals("/api/v1/wagons", "post"), [
    "400",
    "401",
    "403",
    "408",
    "409",
    "413",
    "415",
    "421",
    "431",
    "500",
    "503",
    "507",
  ]);
  assert.deepEqual(refusals("/api/v1/wagons/{id}/brakes", "get"), [
    "400",
    "401",
    "404",
    "408",
    "421",
    "431",
    "500",
    "503",
  ]);
});

test("an operation of v1 names its role, if roles are enforced, and its keys' scopes", () => {
  const described = (roles: RolesMode): readonly unknown[] => {
    const { paths } = document(sampleRows, { ...ABOUT, roles });
    const { get, post } = paths["/api/v1/wagons"];
    return [get.description, post.description, paths["/api/public/wagons"].post.description];
  };
  const keys = "Takes API keys of the scope `runtime`.";
  assert.deepEqual(described("carried"), [keys, "Adds `one`.", "Adds `one`."]);
  const role = "Adds `one`. Takes the role operator or admin.";
  assert.deepEqual(described("enforced"), [keys, role, "Adds `one`."]);
});

test("a refusal has an Error as its body, and the headers that its status requires", () => {
  const { components } = document();
  const { Unauthorized, TooManyRequests } = components.responses;
  const schema = { $ref: "#/components/schemas/Error" };
  assert.deepEqual(Unauthorized.content, { "application/json": { schema } });
  assert.ok(Unauthorized.headers["WWW-Authenticate"]);
  assert.ok(TooManyRequests.headers["Retry-After"]);
  assert.deepEqual(components.schemas.Error.required, ["error"]);
});

test("parameters state their place, their bounds and their defaults", () => {
  const { paths } = document();
  assert.deepEqual(paths["/api/v1/wagons"].get.parameters, [
    {
      name: "limit",
      in: "query",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 50, default: 10 },
    },
    {
      name: "X-Runtime-Client",
      in: "header",
      description: "Who asks.",
      schema: { type: "string" },
    },
  ]);
  const [id] = paths["/api/v1/wagons/{id}/brakes"].get.parameters;
  assert.deepEqual(id, {
    name: "id",
    in: "path",
    required: true,
    description: "Its <number>.",
    schema: { type: "string", pattern: "^[1-9]", maxLength: 5 },
    example: "7",
  });
});

test("a schema with a title is referred to wherever it is nested", () => {
  const { paths, components } = document();
  const wagon = { $ref: "#/components/schemas/Wagon" };
  assert.deepEqual(components.schemas.WagonList.properties.wagons.items, wagon);
  const created = paths["/api/v1/wagons"].post;
  assert.deepEqual(created.responses["201"].content, { "application/json": { schema: wagon } });
  assert.deepEqual(created.requestBody, {
    description: "A new wagon.",
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/WagonCreate" } } },
  });
});

test("an answer may be negotiated, not be JSON, or have no body", () => {
  const { paths } = document();
  const contents = (path: string, status: string): unknown =>
    paths[path].get.responses[status].content &&
    Object.keys(paths[path].get.responses[status].content);
  assert.deepEqual(contents("/", "200"), ["application/json", "text/html"]);
  assert.deepEqual(contents("/api/v1/wagons/{id}/brakes", "200"), ["text/plain"]);
  assert.equal(contents("/api/v1/wagons", "304"), undefined);
  assert.ok(paths["/api/v1/wagons"].get.responses["304"].headers.ETag);
});

test("two different schemas with one title are an error", () => {
  const [list] = sampleRows;
  assert.ok(list);
  const impostor = { title: "Wagon", type: "object", properties: {} } as const;
  const other = { ...list, path: "/other", replies: { 200: impostor } };
  assert.throws(() => openApiDocument([list, other], ABOUT), /Two different schemas.*Wagon/);
});

test("two rows that would share an id are an error", () => {
  const [list] = sampleRows;
  assert.ok(list);
  assert.throws(() => openApiDocument([list, { ...list }], ABOUT), /getPublicWagons/);
});
