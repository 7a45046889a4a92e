import assert from "node:assert/strict";
import { test } from "node:test";
import { LONG_LIST } from "../../src/fleet/listing.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const MINUTES_15 = 15 * 60_000;
const HOURS_24 = 24 * 60 * 60_000;

for (const path of [
  "/api/public/fleet/heartbeat",
  "/api/public/runtime/heartbeat",
  "/api/v1/fleet/heartbeat",
  "/api/v1/runtime/heartbeat",
]) {
  test(`a heartbeat to ${path} creates and updates one runtime`, async (t) => {
    const app = await start(t);
    const first = await app.post(path, {
      name: " ci-7 ",
      hostname: "h",
      os: "linux",
      version: "1",
    });
    assert.deepEqual([first.status, first.body], [200, { status: "ok" }]);
    app.advance(1_000);
    await app.post(path, { name: "ci-7", version: "2", policy_version: "v1" });
    assert.deepEqual((await app.get("/api/v1/fleet")).body, {
      runtimes: [
        {
          name: "ci-7",
          hostname: "h",
          os: "linux",
          version: "2",
          policy_version: "v1",
          last_seen: "2026-11-20T20:30:01.000Z",
          status: "online",
        },
      ],
    });
  });
}

test("a registration is 201 the first time and 200 later, with the same id", async (t) => {
  const app = await start(t);
  const first = await app.post("/api/public/runtime/register", { name: "ci-7", os: "linux" });
  const second = await app.post("/api/v1/runtime/register", { name: "ci-7", version: "2" });
  assert.deepEqual([first.status, second.status], [201, 200]);
  assert.equal(first.body.name, "ci-7");
  assert.equal(first.body.status, "registered");
  assert.deepEqual(second.body, first.body);
  await app.restart();
  const third = await app.post("/api/v1/runtime/register", { name: "ci-7" });
  assert.deepEqual([third.status, third.body], [200, first.body]);
  assert.equal((await app.get("/api/public/fleet")).body.runtimes[0].version, "2");
});

test("a runtime that only sent heartbeats is known when it registers", async (t) => {
  const app = await start(t);
  await app.post("/api/public/fleet/heartbeat", { name: "a" });
  assert.equal((await app.post("/api/public/runtime/register", { name: "a" })).status, 200);
});

test("the status follows from the silence, and the latest seen comes first", async (t) => {
  const app = await start(t);
  const statuses = async () =>
    (await app.get("/api/public/fleet")).body.runtimes.map(
      (row: { name: string; status: string }) => `${row.name} ${row.status}`,
    );
  await app.post("/api/public/fleet/heartbeat", { name: "a" });
  app.advance(MINUTES_15 - 1);
  assert.deepEqual(await statuses(), ["a online"]);
  app.advance(1);
  await app.post("/api/public/fleet/heartbeat", { name: "b" });
  assert.deepEqual(await statuses(), ["b online", "a idle"]);
  app.advance(HOURS_24 - MINUTES_15 - 1);
  assert.deepEqual(await statuses(), ["b idle", "a idle"]);
  app.advance(1);
  assert.deepEqual(await statuses(), ["b idle", "a offline"]);
  await app.post("/api/public/fleet/heartbeat", { name: "a" });
  assert.deepEqual(await statuses(), ["a online", "b idle"]);
});

test("an invalid report is refused and changes nothing", async (t) => {
  const app = await start(t);
  for (const [body, error] of [
    [{}, "name: required"],
    [{ name: "  " }, "name: required"],
    [{ name: "x".repeat(257) }, "name: expected at most 256 characters"],
    [{ name: "a", os: 1 }, "os: expected a string"],
    [[], "The body: expected a JSON object"],
  ] as const) {
    for (const path of ["/api/public/fleet/heartbeat", "/api/v1/runtime/register"]) {
      const answer = await app.post(path, body);
      assert.deepEqual([answer.status, answer.body], [400, { error }]);
    }
  }
  assert.deepEqual((await app.get("/api/public/fleet")).body, { runtimes: [] });
});

test("hostile names are listed and forgotten like ordinary ones", async (t) => {
  const app = await start(t);
  const names = ["__proto__", "a/b?c#d%", "🚦".repeat(256), '"</script>'];
  for (const name of names) await app.post("/api/public/fleet/heartbeat", { name });
  const listed = (await app.get("/api/public/fleet")).body.runtimes;
  assert.deepEqual(
    listed.map((row: { name: string }) => row.name),
    names.toReversed(),
  );
  for (const name of names) {
    const answer = await app.delete(`/api/v1/fleet/${encodeURIComponent(name)}`);
    assert.deepEqual([answer.status, answer.body], [200, { id: name, status: "deleted" }]);
  }
  assert.deepEqual((await app.get("/api/public/fleet")).body, { runtimes: [] });
});

test("an unknown runtime cannot be forgotten, and no runtime through the public surface", async (t) => {
  const app = await start(t);
  await app.post("/api/public/fleet/heartbeat", { name: "a" });
  const unknown = await app.delete("/api/v1/fleet/b");
  assert.deepEqual([unknown.status, unknown.body.error], [404, 'No runtime is named "b"']);
  assert.equal((await app.delete("/api/public/fleet/a")).status, 404);
  assert.equal((await app.get("/api/public/fleet")).body.runtimes.length, 1);
});

test("an organization sees and forgets its own runtimes only", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const { admin } = await app.createOrganization("Acme", await app.asUser(ADMIN));
  const { key } = await app.createKey("agent", admin);
  await app.post("/api/v1/fleet/heartbeat", { name: "a" }, key);
  await app.post("/api/public/fleet/heartbeat", { name: "b" });
  const names = (await app.get("/api/v1/fleet", admin)).body.runtimes;
  assert.deepEqual(
    names.map((row: { name: string }) => row.name),
    ["a"],
  );
  assert.equal((await app.delete("/api/v1/fleet/b", admin)).status, 404);
  assert.equal((await app.get("/api/v1/fleet", key)).status, 401);
});

test("a list of thousands is complete, and HEAD of it has no body", async (t) => {
  const app = await start(t);
  const names = Array.from({ length: LONG_LIST + 1 }, (_, i) => `runtime-${i}`);
  const headers = { "content-type": "application/json" };
  // Not by `app.post`, which checks each response against the contract.
  const send = (name: string) =>
    fetch(`${app.url}/api/public/fleet/heartbeat`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name }),
    }).then((answer) => answer.text());
  for (let from = 0; from < names.length; from += 100) {
    await Promise.all(names.slice(from, from + 100).map(send));
  }
  const listed = (await app.get("/api/v1/fleet")).body.runtimes as { name: string }[];
  assert.deepEqual(listed.map(({ name }) => name).sort(), names.toSorted());
  const page = (await app.get(`/api/v1/fleet?limit=${LONG_LIST + 1}&q=RUNTIME-`)).body;
  assert.deepEqual([page.runtimes, page.total], [listed, names.length]);
  const head = await app.request("HEAD", "/api/v1/fleet");
  assert.deepEqual([head.status, head.text], [200, ""]);
});

const HOUR = 60 * 60_000;

interface Listed {
  readonly runtimes: readonly { readonly name: string }[];
  readonly total?: number;
}

/** Names and total of a list, as `a b 2`. */
function listed({ runtimes, total }: Listed): string {
  return [...runtimes.map(({ name }) => name), ...(total === undefined ? [] : [total])].join(" ");
}

test("the list is filtered, paged and counted by the service", async (t) => {
  const app = await start(t);
  const beat = (name: string, fields: object) =>
    app.post("/api/public/fleet/heartbeat", { name, ...fields });
  await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1" });
  await app.post("/api/v1/policies", { version: "v2", yaml: "a: 2" });
  await beat("gone", { policy_version: "v1" });
  app.advance(HOURS_24);
  await beat("idle-1", { policy_version: "v1", hostname: "ADA.local" });
  await beat("idle-2", { policy_version: "v2" });
  app.advance(HOUR);
  await beat("new-1", { policy_version: "v2" });
  await beat("new-2", { policy_version: "v1" });
  await beat("new-3", {});
  for (const [query, expected] of [
    ["", "new-3 new-2 new-1 idle-2 idle-1 gone"],
    ["?q=ada.L", "idle-1"],
    ["?q=", "new-3 new-2 new-1 idle-2 idle-1 gone"],
    ["?name=new-1", "new-1"],
    ["?name=new", ""],
    ["?name=new-1&policy_version=v1&limit=1", "0"],
    ["?status=online", "new-3 new-2 new-1"],
    ["?status=idle", "idle-2 idle-1"],
    ["?status=offline", "gone"],
    ["?policy_version=v1", "new-2 idle-1 gone"],
    ["?drifted=true", "new-2 idle-1"],
    ["?drifted=false", "new-3 new-1 idle-2 gone"],
    ["?drifted=true&status=idle&limit=1", "idle-1 1"],
    ["?limit=2", "new-3 new-2 6"],
    ["?limit=2&offset=5", "gone 6"],
    ["?limit=2&offset=6", "6"],
    ["?offset=4", "idle-1 gone"],
    ["?limit=1&offset=1&policy_version=v1", "idle-1 3"],
    ["?q=nobody&limit=5", "0"],
    ["?sort=name&limit=3", "gone idle-1 idle-2 6"],
    ["?sort=-name&limit=2&offset=4", "idle-1 gone 6"],
    ["?sort=-drifted&limit=1&policy_version=v1", "gone 3"],
  ] as const) {
    for (const prefix of ["/api/public", "/api/v1"]) {
      assert.equal(listed((await app.get(`${prefix}/fleet${query}`)).body), expected, query);
    }
  }
  const summary = await app.get("/api/public/fleet/summary");
  assert.deepEqual(summary.body, {
    ...{ online: 3, idle: 2, offline: 1, drifted: 2, total: 6 },
    policy_version: "v2",
    policy_versions: [
      { version: "v1", runtimes: 3, present: 2 },
      { version: "v2", runtimes: 2, present: 2 },
    ],
  });
  const dashboard = (await app.get("/api/v1/dashboard")).body;
  assert.equal(dashboard.runtimes_drifted, 2);

  await app.post("/api/v1/policies/v1/activate", {});
  assert.equal(listed((await app.get("/api/v1/fleet?drifted=true")).body), "new-1 idle-2");
  assert.equal((await app.get("/api/v1/fleet/summary")).body.policy_version, "v1");
});

test("an invalid parameter of the list is refused", async (t) => {
  const app = await start(t);
  for (const [query, error] of [
    ["status=gone", "status: expected online, idle or offline"],
    ["drifted=yes", "drifted: expected true or false"],
    ["limit=0", "limit: expected a whole number from 1 to 10000"],
    ["limit=10001", "limit: expected a whole number from 1 to 10000"],
    ["limit=x", "limit: expected a whole number from 1 to 10000"],
    ["offset=-1", "offset: expected a whole number of at least 0"],
    ["sort=name", "sort: needs a limit, and offset and limit of at most 10000 together"],
    [
      "sort=name&limit=10000&offset=1",
      "sort: needs a limit, and offset and limit of at most 10000 together",
    ],
  ]) {
    const answer = await app.get(`/api/public/fleet?${query}`);
    assert.deepEqual([answer.status, answer.body], [400, { error }]);
  }
});

test("a summary counts the own organization alone, and a runtime named summary does not hide it", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const { admin } = await app.createOrganization("Acme", await app.asUser(ADMIN));
  await app.post("/api/v1/policies", { version: "v9", yaml: "a: 1" }, admin);
  const { key } = await app.createKey("agent", admin);
  await app.post("/api/v1/fleet/heartbeat", { name: "summary", policy_version: "v1" }, key);
  await app.post("/api/public/fleet/heartbeat", { name: "b", policy_version: "v1" });
  const { body } = await app.get("/api/v1/fleet/summary", admin);
  assert.deepEqual([body.total, body.drifted, body.policy_version], [1, 1, "v9"]);
  const open = (await app.get("/api/public/fleet/summary")).body;
  assert.deepEqual([open.total, open.drifted, open.policy_version], [1, 0, ""]);
  assert.equal((await app.get("/api/v1/fleet/summary", key)).status, 401);
  assert.equal((await app.delete("/api/v1/fleet/summary", admin)).status, 200);
  assert.equal((await app.get("/api/v1/fleet/summary", admin)).body.total, 0);
});
