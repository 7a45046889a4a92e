import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkSlug, freeSlug, slugOf } from "../../src/organizations/slug.ts";
import { isOrganizationId } from "../../src/storage/layout.ts";

for (const [name, slug] of [
  ["Acme Railways", "acme-railways"],
  ["  Été & Söhne!  ", "ete-sohne"],
  ["../../etc/passwd", "etc-passwd"],
  ["日本", "organization"],
  ["__proto__", "proto"],
] as const) {
  test(`"${name}" becomes ${slug}`, () => assert.equal(slugOf(name), slug));
}

test("every name makes a valid slug that is safe as a file name", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.nat(3), (name, taken) => {
      let tries = 0;
      const slug = freeSlug(name, () => tries++ < taken);
      checkSlug(slug, "slug");
      assert.ok(isOrganizationId(slug));
    }),
  );
});

test("a taken slug gets a number, even at the longest length", () => {
  const taken = new Set(["acme", "acme-2"]);
  assert.equal(
    freeSlug("Acme", (slug) => taken.has(slug)),
    "acme-3",
  );
  const long = "a".repeat(63);
  assert.equal(
    freeSlug(long, (slug) => slug === long),
    `${"a".repeat(61)}-2`,
  );
});

for (const slug of ["", "-a", "A", "a_b", "a.b", "a/b", "..", "a".repeat(64), "a\n"]) {
  test(`${JSON.stringify(slug)} cannot be a slug`, () => {
    assert.throws(() => checkSlug(slug, "slug"), { status: 400, message: /^slug: expected/ });
  });
}

test("63 letters, digits and hyphens can be a slug", () => {
  for (const slug of ["a", "0-", "a".repeat(63)]) checkSlug(slug, "slug");
});
