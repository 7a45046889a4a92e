import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { draftPolicy, freeVersion, isVersionName, nameOf } from "../../src/policies/draft.ts";

const NOW = Date.parse("2026-11-20T20:30:00.987Z");
const user = { kind: "user", id: "1", email: "ada@example.com", role: "admin" } as const;
const key = { kind: "key", id: "2", name: "build agents" } as const;

test("absent fields get their defaults", () => {
  assert.deepEqual(draftPolicy({ yaml: "a: 1" }, NOW, undefined), {
    version: "20261120T203000Z",
    isGenerated: true,
    name: "enterprise-policy",
    description: undefined,
    yaml: "a: 1",
    activates: true,
    updated_by: "portal-api",
    updated_at: "2026-11-20T20:30:00.987Z",
  });
});

test("given fields are kept", () => {
  const body = { yaml: "a: 1", version: "v1", name: "n", description: "d", updated_by: "grace" };
  const { version, isGenerated, name, description, updated_by } = draftPolicy(body, NOW, user);
  assert.deepEqual(
    [version, isGenerated, name, description, updated_by],
    ["v1", false, "n", "d", "grace"],
  );
});

test("the author is the signed-in user, or the portal for a key or no credentials", () => {
  assert.equal(draftPolicy({ yaml: "a: 1" }, NOW, user).updated_by, "ada@example.com");
  assert.equal(nameOf(key), "portal-api");
  assert.equal(nameOf(undefined), "portal-api");
});

test("a version name has 1 to 128 code points", () => {
  assert.ok(!isVersionName(""));
  assert.ok(isVersionName("v"));
  assert.ok(isVersionName("🚂".repeat(128)));
  assert.ok(!isVersionName("🚂".repeat(129)));
  assert.ok(!isVersionName("x".repeat(129)));
});

test("a version name may contain characters that a path may not, but not be . or ..", () => {
  for (const name of ["a/b", "../x", "...", " ", "%2e", "a\\b", "ä ß", "validate", "?#&"]) {
    assert.ok(isVersionName(name), name);
  }
  assert.ok(!isVersionName("."));
  assert.ok(!isVersionName(".."));
});

test("a version name may contain any character except control characters and line separators", () => {
  fc.assert(
    fc.property(fc.nat(0x10ffff), (code) => {
      const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
      const isSeparator = code === 0x2028 || code === 0x2029;
      const isSurrogate = code >= 0xd800 && code < 0xe000;
      const expected = !isControl && !isSeparator && !isSurrogate;
      assert.equal(isVersionName(`v${String.fromCodePoint(code)}1`), expected);
    }),
    { numRuns: 2_000, examples: [[0x1f], [0x7f], [0x85], [0x9f], [0x2028], [0x2029], [0xd800]] },
  );
});

test("an invalid version name is refused, with the accepted form", () => {
  assert.throws(() => draftPolicy({ yaml: "a: 1", version: "a\nb" }, NOW, undefined), {
    status: 400,
    message: /^version: expected 1 to 128 characters/,
  });
});

test("a generated name that is taken gets the first free suffix, a given one is a conflict", () => {
  const draft = draftPolicy({ yaml: "a: 1" }, NOW, undefined);
  const taken = new Set(["20261120T203000Z", "20261120T203000Z-2"]);
  const isTaken = (name: string) => taken.has(name);
  assert.equal(freeVersion(draft, isTaken), "20261120T203000Z-3");
  assert.throws(() => freeVersion({ ...draft, isGenerated: false }, isTaken), {
    status: 409,
    message: 'Policy version "20261120T203000Z" already exists',
  });
});
