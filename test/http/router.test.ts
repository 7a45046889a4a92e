import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BadInput, MethodNotAllowed, NotFound } from "../../src/core/errors.ts";
import { empty } from "../../src/http/reply.ts";
import { route, type Method, type Surface } from "../../src/http/route.ts";
import { Router } from "../../src/http/router.ts";
import { anyText } from "../support/any-text.ts";

const row = (method: Method, path: string, surfaces: readonly Surface[] = ["v1"]) =>
  route({
    method,
    path,
    surfaces,
    access: "open",
    summary: `${method} ${path}`,
    tags: ["t"],
    replies: { 204: "" },
    handle: () => empty(204),
  });

const rows = [
  row("GET", "/policies"),
  row("POST", "/policies"),
  row("GET", "/policies/{version}"),
  row("POST", "/policies/validate"),
  row("POST", "/policies/{version}/activate"),
  row("GET", "/audit/{id}"),
  row("GET", "/audit/export"),
  row("DELETE", "/audit/{id}"),
  row("GET", "/", ["portal"]),
  row("GET", "/health", ["public", "v1", "portal"]),
];
const router = new Router(rows, ["public", "v1", "portal"]);

const found = (method: string, path: string) => {
  const { endpoint, params } = router.find(method, path);
  return [endpoint.row.summary, endpoint.surface, params];
};

test("a row is found on its surfaces, HEAD with GET", () => {
  assert.deepEqual(found("GET", "/"), ["GET /", "portal", {}]);
  assert.deepEqual(found("GET", "/health"), ["GET /health", "portal", {}]);
  assert.deepEqual(found("HEAD", "/api/public/health"), ["GET /health", "public", {}]);
  assert.deepEqual(found("GET", "/api/v1/health"), ["GET /health", "v1", {}]);
});

test("a fixed path overrides a pattern if it has the method", () => {
  const policies = "/api/v1/policies/";
  assert.equal(found("POST", `${policies}validate`)[0], "POST /policies/validate");
  assert.deepEqual(found("GET", `${policies}validate`), [
    "GET /policies/{version}",
    "v1",
    { version: "validate" },
  ]);
  assert.equal(found("GET", "/api/v1/audit/export")[0], "GET /audit/export");
  assert.equal(found("DELETE", "/api/v1/audit/export")[0], "DELETE /audit/{id}");
});

test("a path of more segments than any row has is not found, and no row may have so many", () => {
  const slashes = (count: number) => "/".repeat(count);
  for (const count of [31, 32, 33, 15_000]) {
    assert.throws(() => router.find("GET", `/api/v1/audit${slashes(count)}`), NotFound);
  }
  const long = row("GET", `/{id}${"/a".repeat(40)}`);
  assert.throws(() => new Router([long], ["v1"]), /^Error: Too many segments/);
});

test("a percent-encoded fixed name is a parameter's value", () => {
  assert.deepEqual(found("GET", "/api/v1/audit/%65xport"), [
    "GET /audit/{id}",
    "v1",
    { id: "export" },
  ]);
});

test("any text is a parameter once it is percent-encoded", () => {
  const texts = anyText({ minLength: 1 });
  fc.assert(
    fc.property(texts, (text) => {
      const path = `/api/v1/policies/${encodeURIComponent(text)}/activate`;
      assert.deepEqual(router.find("POST", path).params, { version: text });
    }),
  );
});

test("any path is found, or refused in one of three ways", () => {
  const path = fc
    .array(fc.oneof(fc.constantFrom("api", "v1", "policies", "%", "%2F", "..", ""), fc.string()))
    .map((segments) => `/${segments.join("/")}`);
  fc.assert(
    fc.property(path, fc.constantFrom("GET", "PUT", ""), (target, method) => {
      try {
        router.find(method, target);
      } catch (error) {
        const isRefusal = [NotFound, MethodNotAllowed, BadInput].some(
          (kind) => error instanceof kind,
        );
        assert.ok(isRefusal, String(error));
      }
    }),
  );
});

test("a parameter is never empty", () => {
  for (const path of ["/api/v1/policies/", "/api/v1/policies//activate"]) {
    assert.throws(() => router.find("GET", path), NotFound);
  }
});

for (const [path, allow] of [
  ["/api/v1/policies", "GET, HEAD, POST, OPTIONS"],
  ["/api/v1/policies/validate", "POST, GET, HEAD, OPTIONS"],
  ["/api/v1/policies/v1", "GET, HEAD, OPTIONS"],
  ["/api/v1/policies/v1/activate", "POST, OPTIONS"],
  ["/api/v1/audit/export", "GET, HEAD, DELETE, OPTIONS"],
] as const) {
  test(`${path} allows ${allow}`, () => {
    assert.equal(router.allowed(path), allow);
    for (const method of ["PUT", "get", "", "__proto__"]) {
      assert.throws(
        () => router.find(method, path),
        (error: unknown) => error instanceof MethodNotAllowed && error.allow === allow,
      );
    }
  });
}

test("a surface that is not served has no paths", () => {
  const closed = new Router(rows, ["v1", "portal"]);
  assert.throws(() => closed.find("GET", "/api/public/health"), NotFound);
  assert.throws(() => closed.allowed("/api/public/health"), NotFound);
  assert.equal(closed.find("GET", "/health").endpoint.surface, "portal");
});

test("two rows for one method and path are refused at start", () => {
  assert.throws(() => new Router([row("GET", "/a"), row("GET", "/a")], ["v1"]), /GET \/api\/v1\/a/);
  const twice = [row("GET", "/a/{x}"), row("GET", "/a/{x}")];
  assert.throws(() => new Router(twice, ["v1"]), /GET \/api\/v1\/a\/\{x\}/);
});
