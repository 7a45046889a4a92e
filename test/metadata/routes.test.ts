import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { JsonReply, TextReply } from "../../src/http/reply.ts";
import { apisDocument } from "../../src/metadata/documents.ts";
import { metadataRoutes } from "../../src/metadata/routes.ts";
import { describeService } from "../support/service-description.ts";

const needs = {
  description: describeService(metadataRoutes),
  portal: { home: () => ({ html: "<!doctype html>", headers: ["X-Frame-Options", "DENY"] }) },
};

/** Calls the handler of a path like the listener. */
function answer(path: string, headers: Readonly<Record<string, string>> = {}): unknown {
  const row = metadataRoutes.find((one) => one.path === path);
  assert.ok(row);
  const client = { gone: new AbortController().signal };
  return row.handle({ headers, client } as unknown as Parameters<typeof row.handle>[0], needs);
}

function textAnswer(path: string, headers?: Readonly<Record<string, string>>): TextReply {
  const given = answer(path, headers);
  assert.ok(given instanceof TextReply);
  return given;
}

function headerOf({ headers }: TextReply, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at === -1 ? undefined : headers[at + 1];
}

test("the front page is JSON unless HTML is preferred, and varies by Accept", async () => {
  const [asJson, asHtml] = await Promise.all([answer("/"), answer("/", { accept: "text/html" })]);
  assert.ok(asJson instanceof TextReply && asHtml instanceof TextReply);
  assert.match(asJson.contentType ?? "", /^application\/json/);
  assert.deepEqual(JSON.parse(String(asJson.body)), answer("/metadata"));
  assert.equal(asHtml.contentType, "text/html; charset=utf-8");
  assert.match(String(asHtml.body), /^<!doctype html>/);
  for (const one of [asJson, asHtml]) assert.equal(headerOf(one, "Vary"), "Origin, Accept");
  assert.equal(headerOf(asHtml, "X-Frame-Options"), "DENY");
});

test("the OpenAPI document is the same in both notations", () => {
  const yaml = textAnswer("/openapi.yaml");
  const json = textAnswer("/openapi.json");
  assert.equal(yaml.contentType, "application/yaml; charset=utf-8");
  assert.equal(json.contentType, "application/json; charset=utf-8");
  assert.deepEqual(parse(String(yaml.body)), JSON.parse(String(json.body)));
});

test("a reader who has the OpenAPI document gets a 304", () => {
  const etag = headerOf(textAnswer("/openapi.yaml"), "ETag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = textAnswer("/openapi.yaml", { "if-none-match": known });
    assert.deepEqual([again.status, again.body, headerOf(again, "ETag")], [304, undefined, etag]);
  }
  assert.equal(textAnswer("/openapi.yaml", { "if-none-match": '"other"' }).status, 200);
});

test("the OpenAPI document follows a base URL that changes", () => {
  let baseUrl = "https://one.test";
  const moving = {
    ...needs,
    description: describeService(metadataRoutes, { baseUrl: () => baseUrl }),
  };
  const row = metadataRoutes.find(({ path }) => path === "/openapi.json");
  const server = (): string => {
    const given = row?.handle({ headers: {} } as Parameters<typeof row.handle>[0], moving);
    assert.ok(given instanceof TextReply);
    return JSON.parse(String(given.body)).servers[0].url as string;
  };
  assert.equal(server(), "https://one.test");
  baseUrl = "https://two.test";
  assert.equal(server(), "https://two.test");
});

// A burst of requests for it held up everybody while each made the list of all operations again.
test("the list of operations is made once", () => {
  const [first, second] = [textAnswer("/metadata/apis"), textAnswer("/metadata/apis")];
  assert.equal(first.body, second.body);
  assert.deepEqual(
    JSON.parse(String(first.body)),
    structuredClone(apisDocument(needs.description)),
  );
});

test("health is ok and names the edition", async () => {
  const given = await answer("/health");
  assert.ok(!(given instanceof JsonReply));
  assert.deepEqual(given, { status: "ok", edition: "community" });
});
