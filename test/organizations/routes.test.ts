import assert from "node:assert/strict";
import { test } from "node:test";
import { organizationRoutes } from "../../src/organizations/routes.ts";
import { ADMIN_SETTINGS, start } from "../support/start.ts";

const ORGANIZATIONS = "/api/v1/organizations";
const ACME = {
  name: "Acme Railways",
  admin_email: "ada@example.com",
  admin_password: "correct horse battery",
};

test("an organization is created with an admin who can sign in to it", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const created = await app.post(ORGANIZATIONS, ACME);
  assert.equal(created.status, 201);
  assert.equal(created.body.slug, "acme-railways");
  const { admin_email: email, admin_password: password } = ACME;
  const { body } = await app.post("/api/v1/auth/login", { email, password });
  assert.equal(body.user.organization_id, created.body.id);
  assert.equal(body.user.role, "admin");
});

test("taken slugs and emails are 409, wrong ones 400", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  await app.post(ORGANIZATIONS, { ...ACME, slug: "acme" });
  const other = { ...ACME, admin_email: "bob@example.com" };
  assert.equal((await app.post(ORGANIZATIONS, { ...other, slug: "acme" })).status, 409);
  assert.equal((await app.post(ORGANIZATIONS, { ...other, slug: "default" })).status, 409);
  assert.equal((await app.post(ORGANIZATIONS, { ...ACME, slug: "other" })).status, 409);
  assert.equal((await app.post(ORGANIZATIONS, { ...other, slug: "../x" })).status, 400);
  assert.equal((await app.post(ORGANIZATIONS, { ...other, admin_password: "x" })).status, 400);
});

test("the default organization sees all organizations, another one only itself", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { id, admin } = await app.createOrganization("Acme");
  const idsOf = (answer: { body: { organizations: { id: string }[] } }) =>
    answer.body.organizations.map((organization) => organization.id);
  assert.deepEqual(idsOf(await app.get(ORGANIZATIONS)), ["default", id]);
  assert.deepEqual(idsOf(await app.get(ORGANIZATIONS, admin)), [id]);
  assert.equal((await app.get(`${ORGANIZATIONS}/${id}`)).status, 200);
  assert.equal((await app.get(`${ORGANIZATIONS}/${id}`, admin)).status, 200);
  assert.equal((await app.get(`${ORGANIZATIONS}/default`, admin)).status, 404);
  assert.equal((await app.get(`${ORGANIZATIONS}/nowhere`)).status, 404);
  assert.equal((await app.get(`${ORGANIZATIONS}/..%2Fdefault`)).status, 404);
});

test("an organization reads its own record without the list of all", async () => {
  const [list] = organizationRoutes;
  const acme = { id: "acme" };
  const organizations = { get: (id: string) => ({ id }), list: () => assert.fail() };
  const answer = await list?.handle({ organization: "acme" } as never, { organizations } as never);
  assert.deepEqual(answer, { organizations: [acme] });
});

test("only callers of the default organization create organizations", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { admin } = await app.createOrganization("Acme");
  assert.equal((await app.post(ORGANIZATIONS, { ...ACME, slug: "x" }, admin)).status, 403);
  assert.equal((await app.get(`${ORGANIZATIONS}/x`)).status, 404);
  // The 403 comes before the refusals of the body, which this caller must not learn.
  assert.equal((await app.post(ORGANIZATIONS, {}, admin)).status, 403);
  const text = { ...admin, "content-type": "text/plain" };
  assert.equal((await app.post(ORGANIZATIONS, "x", text)).status, 403);
});

test("callers rename their own organization and no other", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { id, admin } = await app.createOrganization("Acme");
  app.advance(1_000);
  const renamed = await app.patch(`${ORGANIZATIONS}/${id}`, { name: "Globex" }, admin);
  assert.equal(renamed.body.name, "Globex");
  assert.equal(renamed.body.slug, "acme");
  assert.ok(renamed.body.updated_at > renamed.body.created_at);
  assert.equal((await app.patch(`${ORGANIZATIONS}/default`, { name: "x" }, admin)).status, 404);
  assert.equal((await app.patch(`${ORGANIZATIONS}/${id}`, { name: "x" })).status, 404);
  assert.equal((await app.patch(`${ORGANIZATIONS}/default`, { name: "Root" })).status, 200);
  assert.equal((await app.patch(`${ORGANIZATIONS}/default`, { name: " " })).status, 400);
});
