import assert from "node:assert/strict";
import { test } from "node:test";
import { organizationChangeBody, organizationCreateBody } from "../../src/organizations/draft.ts";

const acme = {
  name: "Acme",
  slug: "acme",
  admin_email: "ada@example.com",
  admin_password: "correct horse battery",
};

test("an organization is created from a name, an optional slug, and its first admin", () => {
  assert.deepEqual(organizationCreateBody.read({ ...acme, name: " Acme " }), acme);
  const { slug: _, ...withoutSlug } = acme;
  assert.deepEqual(organizationCreateBody.read({ ...acme, slug: "" }), withoutSlug);
});

for (const [field, value, message] of [
  ["name", " ", "name: required"],
  ["slug", "Acme", /^slug: expected/],
  ["admin_email", "ada", "admin_email: expected an email address"],
  ["admin_password", "short", "admin_password: expected 10 to 256 characters"],
] as const) {
  test(`a wrong ${field} is named`, () => {
    const read = () => organizationCreateBody.read({ ...acme, [field]: value });
    assert.throws(read, { status: 400, message });
  });
}

test("a new name is trimmed, and required", () => {
  assert.deepEqual(organizationChangeBody.read({ name: " Globex " }), { name: "Globex" });
  assert.throws(() => organizationChangeBody.read({}), { message: "name: required" });
});
