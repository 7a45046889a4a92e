import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonReply, TextReply } from "../../src/http/reply.ts";
import { cacheHeaders, conditional, representationOf } from "../../src/policies/representation.ts";
import type { Policy } from "../../src/policies/schema.ts";

const policy: Policy = {
  organization_id: "default",
  name: "enterprise-policy",
  version: "v1",
  yaml: "a: ä",
  active: true,
  updated_by: "ada",
  updated_at: "2026-11-20T20:30:00.000Z",
};

function textReply(reply: unknown): TextReply {
  assert.ok(reply instanceof TextReply);
  return reply as Exclude<typeof reply, JsonReply>;
}

test("a policy is sent as JSON with a strong entity tag and caching headers", () => {
  const { etag, whole } = representationOf(policy);
  const { status, body, headers } = textReply(whole);
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(String(body)), policy);
  assert.match(etag, /^"[\w-]{43}"$/);
  assert.deepEqual(headers, cacheHeaders(etag));
  assert.deepEqual(headers, [
    "ETag",
    etag,
    "Cache-Control",
    "private, no-cache",
    "Vary",
    "Origin, X-Runtime-Client, X-Runtime-Name, Authorization, X-API-Key",
  ]);
});

test("the representation of an object is made once", () => {
  assert.equal(representationOf(policy), representationOf(policy));
});

test("the tag changes with any part of the body", () => {
  const tags = [policy, { ...policy, active: false }, { ...policy, activated_by: "x" }].map(
    (one) => representationOf(one).etag,
  );
  assert.equal(new Set(tags).size, 3);
  assert.equal(representationOf({ ...policy }).etag, tags[0]);
});

test("a client with the current representation gets a 304, with the same headers and no body", () => {
  const representation = representationOf(policy);
  const { status, body, headers, contentType } = textReply(
    conditional(representation, representation.etag),
  );
  assert.deepEqual([status, body, contentType], [304, undefined, undefined]);
  assert.deepEqual(headers, textReply(representation.whole).headers);
  assert.equal(conditional(representation, undefined), representation.whole);
  assert.equal(conditional(representation, '"other"'), representation.whole);
});
