import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BadInput,
  Conflict,
  Forbidden,
  MethodNotAllowed,
  NotFound,
  Refusal,
  TooLarge,
  TooMany,
  Unauthenticated,
  Unavailable,
  UnsupportedMediaType,
} from "../../src/core/errors.ts";

for (const [refusal, status, headers] of [
  [new BadInput("m"), 400, []],
  [new Unauthenticated("m"), 401, ["WWW-Authenticate", 'Bearer realm="signalbox"']],
  [
    new Unauthenticated("m", { tokenRefused: true }),
    401,
    ["WWW-Authenticate", 'Bearer realm="signalbox", error="invalid_token"'],
  ],
  [new Forbidden("m"), 403, []],
  [new NotFound("m"), 404, []],
  [new MethodNotAllowed("m", "GET, HEAD"), 405, ["Allow", "GET, HEAD"]],
  [new Conflict("m"), 409, []],
  [new TooLarge("m"), 413, []],
  [new UnsupportedMediaType("m"), 415, []],
  [new TooMany("m", 7), 429, ["Retry-After", "7"]],
  [new Unavailable("m", 3), 503, ["Retry-After", "3"]],
] as const) {
  test(`${refusal.constructor.name} is a ${status} with ${JSON.stringify(headers)}`, () => {
    assert.ok(refusal instanceof Refusal);
    assert.equal(refusal.status, status);
    assert.deepEqual(refusal.headers(), headers);
    assert.equal(refusal.message, "m");
  });
}

test("a cause is kept for the log, apart from the message", () => {
  const cause = new Error("the key was abc");
  for (const refusal of [new BadInput("m", { cause }), new Unauthenticated("m", { cause })]) {
    assert.equal(refusal.cause, cause);
    assert.equal(refusal.message, "m");
  }
});
