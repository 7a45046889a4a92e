import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_SETTINGS, start } from "../support/start.ts";

const SETTINGS = "/api/v1/settings";

test("settings state the edition and the authentication, and have no pairs at first", async (t) => {
  let requireAuth = false;
  const app = await start(t, {
    ...ADMIN_SETTINGS,
    edition: "team",
    requireAuth: () => requireAuth,
  });
  const admin = await app.asUser({
    email: ADMIN_SETTINGS.adminEmail,
    password: ADMIN_SETTINGS.adminPassword,
  });
  const auth = { require_auth: false, api_keys_accepted: true, token_lifetime_hours: 24 };
  const audit = { events: 0, bytes: 0 };
  const expected = { edition: "team", organization_id: "default", auth, settings: [], audit };
  assert.deepEqual((await app.get(SETTINGS, admin)).body, expected);
  requireAuth = true;
  assert.equal((await app.get(SETTINGS, admin)).body.auth.require_auth, true);
});

test("pairs are replaced as a whole, separately for each organization", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { admin } = await app.createOrganization("Acme");
  await app.put(SETTINGS, { settings: [{ key: "old", value: "1" }] }, admin);
  const pairs = [
    { key: "theme", value: "dark" },
    { key: "note", value: "" },
  ];
  const put = await app.put(SETTINGS, { settings: pairs }, admin);
  assert.equal(put.status, 200);
  assert.deepEqual(put.body.settings, pairs);
  await app.restart();
  assert.deepEqual((await app.get(SETTINGS, admin)).body.settings, pairs);
  assert.deepEqual((await app.get(SETTINGS)).body.settings, []);
});

test("a repeated key is refused by name, and nothing changes", async (t) => {
  const app = await start(t);
  const refused = await app.put(SETTINGS, { settings: [{ key: "a" }, { key: "a" }] });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.error, 'settings[1].key: "a" is given twice');
  assert.deepEqual((await app.get(SETTINGS)).body.settings, []);
});

test("settings state the number of events, their bytes and the oldest", async (t) => {
  const app = await start(t, ADMIN_SETTINGS);
  const { admin } = await app.createOrganization("Acme");
  const timestamps = ["2026-11-20T10:00:00Z", "2026-10-01T02:00:00+02:00", "2026-11-01T00:00:00Z"];
  const events = timestamps.map((timestamp) => ({ command: "ls", timestamp }));
  await app.post("/api/v1/audit", { events }, admin);
  for (const answer of [
    await app.get(SETTINGS, admin),
    await app.put(SETTINGS, { settings: [] }, admin),
  ]) {
    const { events: count, bytes, oldest } = answer.body.audit;
    assert.deepEqual([count, oldest], [3, "2026-10-01T00:00:00.000Z"]);
    assert.ok(bytes > 300, bytes);
  }
  assert.deepEqual((await app.get(SETTINGS)).body.audit, { events: 0, bytes: 0 });
});
