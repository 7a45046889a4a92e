import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// One service that stores data of every kind, and its data after a restart.
const app = await start({ after }, ADMIN_SETTINGS);
const admin = await app.asUser(ADMIN);
app.advance(1000); // records of one moment have no defined order
const other = await app.createOrganization("Acme", admin);
const { key } = await app.createKey("acme", other.admin);

for (const headers of [admin, other.admin]) {
  await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1 # é\n" }, headers);
  await app.post("/api/v1/policies", { version: "v2", yaml: "a: 2" }, headers);
  await app.post("/api/v1/policies/v1/activate", {}, headers);
  await app.post("/api/v1/audit", { id: "e", command: "git push", consumer: "ci" }, headers);
  await app.post("/api/v1/audit", { events: [{ command: "ls" }, { ai: true }] }, headers);
  await app.post("/api/v1/fleet/heartbeat", { name: "r1", os: "linux" }, headers);
  await app.post("/api/v1/runtime/register", { name: "r2" }, headers);
  await app.put("/api/v1/providers/git", { status: "degraded" }, headers);
  const pairs = [
    { key: "b", value: "2" },
    { key: "a", value: "" },
  ];
  await app.put("/api/v1/settings", { settings: pairs }, headers);
}
// Not in the other organization: the version that is published there later would end it at some moment.
const stages = [{ percent: 10 }, { percent: 100 }];
assert.equal((await app.post("/api/v1/rollouts", { version: "v2", stages }, admin)).status, 201);
const user = await app.createUser({ email: "ada@acme.example" }, other.admin);

const PATHS = [
  "policies",
  "policies?active=true",
  "policies/v2",
  "rollouts",
  "audit",
  "fleet",
  "dashboard",
  "providers",
  "provider-names",
  "settings",
  "users",
  "organizations",
  "api-keys",
  "activity",
  "auth/me",
];

async function everything(): Promise<string[]> {
  const answers = [];
  for (const headers of [admin, other.admin]) {
    for (const path of PATHS) {
      const { status, text, headers: sent } = await app.get(`/api/v1/${path}`, headers);
      assert.equal(status, 200);
      answers.push(`${path} ${sent.get("etag")} ${text}`);
    }
  }
  return answers;
}

for (const round of ["once", "and twice"]) {
  test(`restarted ${round}, every answer is the same to the byte`, async () => {
    const before = await everything();
    await app.restart();
    assert.deepEqual(await everything(), before);
  });
}

test("changes after a restart are kept as well", async () => {
  await app.post("/api/v1/policies", { version: "v3", yaml: "a: 3" }, other.admin);
  await app.post("/api/v1/audit", { events: [{ id: "late", command: "ls" }] }, key);
  await app.delete("/api/v1/fleet/r1", other.admin);
  await app.delete("/api/v1/providers/git", other.admin);
  await app.delete(`/api/v1/users/${user.id}`, other.admin);
  await app.patch(`/api/v1/organizations/${other.id}`, { name: "Renamed" }, other.admin);
  await app.put("/api/v1/settings", { settings: [] }, other.admin);
  const before = await everything();
  await app.restart();
  assert.deepEqual(await everything(), before);
});

test("settings keep their order, and accept a key only once", async () => {
  const pairs = ["z", "a", "m"].map((name) => ({ key: name, value: name.repeat(3) }));
  const put = await app.put("/api/v1/settings", { settings: pairs }, admin);
  assert.deepEqual(put.body, (await app.get("/api/v1/settings", admin)).body);
  assert.deepEqual(put.body.settings, pairs);
  const twice = [...pairs, pairs[0]];
  assert.equal((await app.put("/api/v1/settings", { settings: twice }, admin)).status, 400);
  assert.deepEqual((await app.get("/api/v1/settings", admin)).body.settings, pairs);
});
