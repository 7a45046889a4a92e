import assert from "node:assert/strict";
import { test } from "node:test";
import { leastRolesOf, withheldFrom } from "../../src/portal/withheld.ts";
import { routes } from "../../src/routes.ts";
import { filesBelow, readSource } from "../repository/source-files.ts";
import { ADMIN_SETTINGS, start } from "../support/start.ts";

const least = leastRolesOf(routes);

test("a role is denied the operations of higher roles", () => {
  assert.equal(least["POST /api-keys"], "operator");
  assert.equal(least["POST /policies/validate"], undefined);
  assert.deepEqual(withheldFrom("admin", least).operations, {});
  const { operations } = withheldFrom("operator", least);
  assert.equal(operations["POST /users"], "admin");
  assert.equal(operations["POST /policies"], undefined);
  assert.deepEqual(withheldFrom("viewer", least).operations, least);
});

test("every operation that a page checks takes a role", () => {
  const asked = filesBelow("src/portal").flatMap((path) =>
    [
      ...readSource(path).matchAll(/(?:isAllowed|ifAllowed|allowedOrNote)\(\s*\w+,\s*"([^"]+)"/g),
    ].map(([, name = ""]) => name),
  );
  assert.ok(asked.length >= 10, asked.join());
  assert.deepEqual(
    asked.filter((name) => !(name in least)),
    [],
  );
});

test("a page names the roles of operations only while roles are enforced on its prefix", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, roles: "enforced" });
  assert.match((await app.get("/portal/policies")).text, /data-roles="\{&quot;POST \/policies/);
  await app.restart({ roles: "carried" });
  assert.doesNotMatch((await app.get("/portal/policies")).text, /data-roles/);
  await app.restart({ roles: "enforced", demo: true });
  assert.doesNotMatch((await app.get("/portal/policies")).text, /data-roles/);
});
