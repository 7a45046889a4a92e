import assert from "node:assert/strict";
import { test } from "node:test";
import { openApiDocument } from "../../src/metadata/openapi.ts";
import { sampleRows } from "../metadata/sample-rows.ts";
import type { Answer } from "./client.ts";
import { contractOf } from "./contract.ts";

const about = {
  baseUrl: "https://one.test",
  version: "1",
  roles: "carried",
  requireAuth: false,
  surfaces: ["public", "v1", "portal"],
} as const;
const contract = contractOf(openApiDocument(sampleRows, about));

function answer(status: number, body: unknown, changes: Record<string, string> = {}): Answer {
  const headers = new Headers({
    "X-Request-Id": "1",
    "X-Content-Type-Options": "nosniff",
    Vary: "Origin",
    "Cache-Control": "no-store",
    "Content-Type": "application/json; charset=utf-8",
  });
  for (const [name, value] of Object.entries(changes)) headers.set(name, value);
  return { status, headers, body, text: body === undefined ? "" : JSON.stringify(body) };
}

const wagons = { wagons: [{ id: "1", note: null }] };

test("an answer that matches the document passes", () => {
  contract.check("GET", "/api/public/wagons?limit=1", answer(200, wagons));
  contract.check("POST", "/api/v1/wagons", answer(201, { id: "1" }));
  contract.check("POST", "/api/v1/wagons", answer(409, { error: "There is one" }));
  contract.check("HEAD", "/api/v1/wagons", answer(200, undefined));
  contract.check("GET", "/nowhere", answer(404, { error: "Nothing here" }));
});

const faults: readonly (readonly [string, () => void])[] = [
  ["an undeclared field", () => check(200, { ...wagons, extra: 1 })],
  ["an undeclared field of a nested record", () => check(200, { wagons: [{ id: "1", extra: 1 }] })],
  ["a missing field", () => check(200, {})],
  ["a field of the wrong type", () => check(200, { wagons: [{ id: 1 }] })],
  ["an undeclared status", () => check(409, { error: "Why" })],
  ["an undeclared media type", () => check(200, wagons, { "content-type": "text/html" })],
  ["an error that is no Error", () => check(500, { message: "Why" })],
  ["an answer that does not vary by origin", () => check(200, wagons, { vary: "Accept" })],
  [
    "a 401 without a challenge",
    () => contract.check("GET", "/api/v1/wagons", answer(401, { error: "Who" })),
  ],
  ["a body after HEAD", () => contract.check("HEAD", "/api/v1/wagons", answer(200, wagons))],
  ["success at an unknown path", () => contract.check("GET", "/nowhere", answer(200, wagons))],
  [
    "a 405 that does not say what is allowed",
    () => contract.check("PUT", "/api/v1/wagons", answer(405, { error: "No" })),
  ],
];

function check(status: number, body: unknown, headers?: Record<string, string>): void {
  contract.check("GET", "/api/public/wagons", answer(status, body, headers));
}

for (const [what, attempt] of faults) {
  test(`${what} is found`, () => {
    assert.throws(attempt, assert.AssertionError);
  });
}

test("documents that differ in their server alone share one compiled contract", () => {
  const other = openApiDocument(sampleRows, { ...about, baseUrl: "https://two.test" });
  assert.equal(contractOf(other), contract);
});
