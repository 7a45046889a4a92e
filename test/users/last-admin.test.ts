import assert from "node:assert/strict";
import { test } from "node:test";
import { draftUser } from "../../src/users/draft.ts";
import { checkAdminRemains } from "../../src/users/last-admin.ts";
import type { Role } from "../../src/core/roles.ts";
import type { StoredUser } from "../../src/users/schema.ts";

function person(id: string, role: Role, active = true): StoredUser {
  const draft = draftUser({ email: `${id}@example.com`, role }, "hash", id, 0);
  return { ...draft, active, organization_id: "acme" };
}

const ada = person("ada", "admin");
const retired = person("retired", "admin", false);
const viewer = person("viewer", "viewer");
const admins = [ada];

for (const [change, after] of [
  ["deleted", undefined],
  ["deactivated", { ...ada, active: false }],
  ["demoted", { ...ada, role: "operator" as const }],
] as const) {
  test(`the last active admin cannot be ${change}`, () => {
    assert.throws(() => checkAdminRemains(admins, ada, after), { status: 409 });
  });
  test(`one of two active admins can be ${change}`, () => {
    checkAdminRemains([...admins, person("bob", "admin")], ada, after);
  });
}

test("the last active admin can change in any other way", () => {
  checkAdminRemains(admins, ada, { ...ada, name: "Countess" });
});

test("a user who is not an active admin can be removed", () => {
  checkAdminRemains(admins, viewer, undefined);
  checkAdminRemains(admins, retired, undefined);
  checkAdminRemains([], viewer, undefined);
});
