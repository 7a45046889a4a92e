import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fillInEach, operationsBelow } from "../support/operations.ts";
import type { SentHeaders } from "../support/client.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// Two organizations with equal names and ids everywhere, and a mark of their own in every text.
const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });
const operator = await app.asUser(ADMIN);

interface Tenant {
  readonly mark: string;
  readonly id: string;
  readonly admin: SentHeaders;
  readonly key: SentHeaders;
  readonly userId: string;
  readonly keyId: string;
}

async function fill(mark: string): Promise<Tenant> {
  const { id, admin } = await app.createOrganization(`Twin ${mark}`, operator);
  const { id: keyId, key } = await app.createKey(`key ${mark}`, admin);
  const { id: userId } = (await app.get("/api/v1/auth/me", admin)).body;
  await app.post("/api/v1/policies", { version: "v1", yaml: `a: ${mark}`, name: mark }, admin);
  await app.post("/api/v1/policies", { version: "v2", yaml: `b: ${mark}` }, admin);
  const event = { id: "e1", command: `git push ${mark}`, provider: `git-${mark}`, executor: mark };
  await app.post("/api/v1/audit", event, key);
  await app.post("/api/v1/audit", { events: [{ id: "e2", command: `ls ${mark}` }] }, admin);
  await app.post("/api/v1/fleet/heartbeat", { name: "r1", hostname: mark }, key);
  await app.post("/api/v1/runtime/register", { name: "r2", os: mark }, key);
  await app.put("/api/v1/settings", { settings: [{ key: "k", value: mark }] }, admin);
  return { mark, id, admin, key, userId, keyId };
}

const red = await fill("redmark");
const blue = await fill("bluemark");
await app.put("/api/v1/providers/git", { status: "degraded" }, red.admin);

const SUBJECTS = [
  [red, blue],
  [blue, red],
] as const;

/** The paths of every GET of v1, with the ids that both organizations have, and both organizations' own. */
async function paths(): Promise<string[]> {
  const operations = await operationsBelow(app, "/api/v1/");
  const ids = ["v1", "v2", "e1", "r1", red.id, blue.id, red.userId, blue.userId, red.keyId];
  return operations
    .filter(({ method, path }) => method === "GET" && !path.endsWith("/stream"))
    .flatMap(({ path }) => fillInEach(path, path.includes("/tile/") ? ["0"] : ids)); // tiles have numbers
}

/** An answer's text without the ids in the requested path, which a 404 may repeat. */
async function said(path: string, headers: SentHeaders): Promise<string> {
  const { text } = await app.get(path, headers);
  const [, , , ...segments] = path.split("/"); // after /api/v1/
  return segments.reduce((rest, segment) => rest.replaceAll(segment, ""), text);
}

for (const [own, foreign] of SUBJECTS) {
  test(`no answer to ${own.mark} contains data of ${foreign.mark}`, async () => {
    let answers = 0;
    for (const path of await paths()) {
      for (const headers of [own.admin, own.key]) {
        const text = await said(path, headers);
        for (const secret of [foreign.mark, foreign.id, foreign.userId, foreign.keyId]) {
          assert.ok(!text.includes(secret), `${path}: ${text}`);
        }
        if (text.includes(own.mark)) answers++;
      }
    }
    assert.ok(answers >= 12, `${answers} answers hold the own mark`);
  });

  test(`records of ${foreign.mark} are 404 for ${own.mark}, and stay`, async () => {
    const { admin } = own;
    const attempts = [
      app.get(`/api/v1/organizations/${foreign.id}`, admin),
      app.patch(`/api/v1/organizations/${foreign.id}`, { name: "taken" }, admin),
      app.get(`/api/v1/users/${foreign.userId}`, admin),
      app.patch(`/api/v1/users/${foreign.userId}`, { name: "taken" }, admin),
      app.delete(`/api/v1/users/${foreign.userId}`, admin),
      app.delete(`/api/v1/api-keys/${foreign.keyId}`, admin),
    ];
    for (const { status, text } of await Promise.all(attempts)) assert.equal(status, 404, text);
    assert.equal((await app.get("/api/v1/audit", foreign.key)).status, 200);
    assert.equal((await app.get("/api/v1/auth/me", foreign.admin)).status, 200);
  });

  test(`${own.mark} finds its own records by the shared ids`, async () => {
    const { admin, mark, id } = own;
    const v1 = (await app.get("/api/v1/policies/v1", admin)).body;
    assert.deepEqual([v1.yaml, v1.organization_id], [`a: ${mark}`, id]);
    const { events, total } = (await app.get("/api/v1/audit", admin)).body;
    assert.equal(total, 2);
    for (const event of events) assert.equal(event.organization_id, id);
    assert.equal((await app.get("/api/v1/fleet", admin)).body.runtimes.length, 2);
    assert.equal((await app.get("/api/v1/api-keys", admin)).body.api_keys.length, 1);
    assert.equal((await app.get("/api/v1/organizations", admin)).body.organizations.length, 1);
    const dashboard = (await app.get("/api/v1/dashboard", admin)).body;
    assert.deepEqual([dashboard.commands_today, dashboard.runtimes_total], [2, 2]);
    const settings = (await app.get("/api/v1/settings", admin)).body;
    assert.deepEqual(
      [settings.organization_id, settings.settings],
      [id, [{ key: "k", value: mark }]],
    );
    assert.ok(
      (await app.get("/api/v1/provider-names", admin)).body.providers.includes(`git-${mark}`),
    );
  });
}

test("one organization's changes leave the other's records alone", async () => {
  // An export leaves an entry, which the activity list of the same moment may show or not.
  const compared = (await paths()).filter((path) => !path.endsWith("/export"));
  const before = await Promise.all(compared.map((path) => app.get(path, blue.admin)));
  await app.post("/api/v1/policies/v1/activate", {}, red.admin);
  await app.post("/api/v1/audit", { id: "e1", command: "other" }, red.key);
  await app.delete("/api/v1/fleet/r1", red.admin);
  await app.put("/api/v1/settings", { settings: [] }, red.admin);
  await app.put("/api/v1/providers/aws", { status: "offline" }, red.admin);
  const after = await Promise.all(compared.map((path) => app.get(path, blue.admin)));
  assert.deepEqual(
    after.map(({ text }) => text),
    before.map(({ text }) => text),
  );
  const git = (headers: SentHeaders) =>
    app
      .get("/api/v1/providers", headers)
      .then(({ body }) => body.providers.find(({ id }: { id: string }) => id === "git").status);
  assert.deepEqual([await git(red.admin), await git(blue.admin)], ["degraded", "offline"]);
});

test("the public surface sees nothing of organizations", async () => {
  for (const path of ["policies", "audit", "fleet", "dashboard", "providers", "provider-names"]) {
    const { text } = await app.get(`/api/public/${path}`, red.key);
    assert.ok(!text.includes("redmark") && !text.includes("bluemark"), path);
  }
  assert.equal((await app.get("/api/public/policies/v1")).status, 404);
});

test("the default organization sees all organizations, but not their users", async () => {
  const { organizations } = (await app.get("/api/v1/organizations", operator)).body;
  assert.deepEqual(
    new Set(organizations.map(({ id }: { id: string }) => id)),
    new Set(["default", red.id, blue.id]),
  );
  const one = (await app.get(`/api/v1/organizations/${red.id}`, operator)).body;
  assert.deepEqual([one.id, one.name], [red.id, "Twin redmark"]);
  assert.equal((await app.get(`/api/v1/users/${red.userId}`, operator)).status, 404);
  assert.equal((await app.get("/api/v1/users", operator)).body.users.length, 1);
  assert.equal((await app.get("/api/v1/audit", operator)).body.total, 0);
});

test("an organization can rename itself, but not create others", async () => {
  app.advance(1000);
  const renamed = await app.patch(`/api/v1/organizations/${red.id}`, { name: "Red" }, red.admin);
  assert.equal(renamed.status, 200);
  assert.deepEqual([renamed.body.name, renamed.body.id], ["Red", red.id]);
  assert.ok(renamed.body.updated_at > renamed.body.created_at);
  const body = {
    name: "Third",
    admin_email: "third@example.com",
    admin_password: ADMIN.password,
  };
  assert.equal((await app.post("/api/v1/organizations", body, red.admin)).status, 403);
  assert.equal((await app.get("/api/v1/organizations", operator)).body.organizations.length, 3);
  const taken = { ...body, slug: red.id };
  assert.equal((await app.post("/api/v1/organizations", taken, operator)).status, 409);
  const known = { ...body, admin_email: ADMIN.email.toUpperCase() };
  assert.equal((await app.post("/api/v1/organizations", known, operator)).status, 409);
  for (const change of [
    { name: "" },
    { slug: "../x" },
    { slug: "A B" },
    { admin_email: "none" },
    { admin_password: "short" },
  ]) {
    const answer = await app.post("/api/v1/organizations", { ...body, ...change }, operator);
    assert.equal(answer.status, 400, JSON.stringify(change));
  }
  assert.equal((await app.get("/api/v1/organizations", operator)).body.organizations.length, 3);
});

test("everything is still separate after a restart", async () => {
  await app.restart();
  for (const [own, foreign] of SUBJECTS) {
    let answers = 0;
    for (const path of await paths()) {
      const text = await said(path, own.admin);
      assert.ok(!text.includes(foreign.mark), path);
      if (text.includes(own.mark)) answers++;
    }
    assert.ok(answers >= 8, `${answers} answers hold the own mark`);
  }
});
