/** The behaviour of a server while its database cannot be reached, and afterwards. */
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { startCuttingProxy } from "../../support/cutting-proxy.ts";
import { Cluster, withoutPostgres } from "../../support/postgres.ts";
import { start, type App } from "../../support/start.ts";

const skip = withoutPostgres;
const POLICIES = "/api/v1/policies";
const ACTIVE = `${POLICIES}?active=true`;

let cluster: Cluster;
let databases = 0;

before(async () => {
  if (skip === false) cluster = await Cluster.start({ fsync: false });
});
after(() => cluster?.remove());

/** Starts a server over a new database, reached through a port where one is given. */
async function startOver(t: TestContext, port = cluster.port): Promise<App> {
  const name = `away_${++databases}`;
  await cluster.sql(`CREATE DATABASE ${name}`);
  const databaseUrl = cluster.url(name).replace(String(cluster.port), String(port));
  return start(t, {}, undefined, (parts) => {
    const config = { ...parts.config, databaseUrl, databasePoolSize: 4 };
    return openPostgresEngine({ ...parts, config });
  });
}

/** Asks until the server answers as wanted. */
async function until(
  ask: () => Promise<{ readonly status: number }>,
  status: number,
): Promise<void> {
  const end = performance.now() + 60_000;
  while ((await ask()).status !== status) {
    assert.ok(performance.now() < end, `It never answered ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test(
  "while the database is away, requests get 503 and are told when to come back",
  { skip },
  async (t) => {
    const app = await startOver(t);
    await app.post(POLICIES, { version: "v1", yaml: "a: 1" });
    assert.equal((await app.get("/ready")).status, 200);
    await cluster.down("immediate");
    await until(() => app.get(ACTIVE), 503);
    const answers = await Promise.all([
      app.get(ACTIVE),
      app.post(POLICIES, { version: "v2", yaml: "a: 2" }),
      app.post("/api/v1/fleet/heartbeat", { name: "r" }),
      app.post("/api/v1/audit", { command: "ls" }),
    ]);
    for (const { status, headers, body } of answers) {
      assert.equal(status, 503);
      assert.ok(Number(headers.get("retry-after")) > 0);
      assert.match(body.error, /database/);
    }
    const ready = await app.get("/ready");
    assert.equal(ready.status, 503);
    assert.match(ready.text, /database/);
    const health = await app.get("/health");
    assert.deepEqual([health.status, health.body.status], [200, "degraded"]);
    await cluster.up();
    await until(() => app.get(ACTIVE), 200);
    assert.equal((await app.get(ACTIVE)).body.version, "v1");
    assert.equal((await app.post(POLICIES, { version: "v2", yaml: "a: 2" })).status, 201);
    await until(() => app.get("/ready"), 200);
  },
);

test("a database that is being restored answers 503 to each request, too", { skip }, async (t) => {
  const app = await startOver(t);
  const name = `away_${databases}`;
  const move = (from: string, to: string) =>
    cluster.sql(
      `ALTER DATABASE ${from} ALLOW_CONNECTIONS false;
       SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}';
       ALTER DATABASE ${from} RENAME TO ${to}; ALTER DATABASE ${to} ALLOW_CONNECTIONS true`,
    );
  await move(name, `${name}_elsewhere`);
  await until(() => app.get(ACTIVE), 503);
  for (let i = 0; i < 20; i++) {
    const { status, headers } = await app.get(ACTIVE);
    assert.equal(status, 503);
    assert.ok(Number(headers.get("retry-after")) > 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await move(`${name}_elsewhere`, name);
  await until(() => app.get(ACTIVE), 404);
});

test("a commit whose connection is lost says that its outcome is unknown", { skip }, async (t) => {
  const proxy = await startCuttingProxy(t, cluster.port);
  const app = await startOver(t, proxy.port);
  proxy.cutAt("COMMIT", "after");
  const lost = await app.post(POLICIES, { version: "v1", yaml: "a: 1" });
  assert.equal(lost.status, 503);
  assert.match(lost.body.error, /may have been made or not/);
  await until(() => app.get(ACTIVE), 200); // it was made
  assert.equal((await app.post(POLICIES, { version: "v1", yaml: "a: 1" })).status, 409);
  const { entries } = (await app.get("/api/v1/activity?action=policy.publish")).body;
  const done = entries.filter(({ outcome }: { outcome: string }) => outcome === "done");
  assert.equal(done.length, 1);
});

test("a change whose connection is lost before the commit never happened", { skip }, async (t) => {
  const proxy = await startCuttingProxy(t, cluster.port);
  const app = await startOver(t, proxy.port);
  proxy.cutAt("INSERT INTO activity", "before");
  const lost = await app.post(POLICIES, { version: "v1", yaml: "a: 1" });
  assert.deepEqual([lost.status, /may have been/.test(lost.body.error)], [503, false]);
  assert.equal((await app.get(ACTIVE)).status, 404);
  assert.equal((await app.post(POLICIES, { version: "v1", yaml: "a: 1" })).status, 201);
  const { entries } = (await app.get("/api/v1/activity?action=policy.publish")).body;
  assert.equal(entries.length, 1);
});

test("a stored report is answered without the version that cannot be read", { skip }, async (t) => {
  const proxy = await startCuttingProxy(t, cluster.port);
  const app = await startOver(t, proxy.port);
  await app.post(POLICIES, { version: "v1", yaml: "a: 1" });
  const readsVersion = "rollout-heads";
  proxy.cutAt(readsVersion, "before");
  const registered = await app.post("/api/v1/runtime/register", { name: "r" });
  assert.deepEqual([registered.status, registered.body.policy_version], [201, undefined]);
  proxy.cutAt(readsVersion, "before");
  const beat = await app.post("/api/v1/fleet/heartbeat", { name: "r" });
  assert.deepEqual([beat.status, beat.body], [200, { status: "ok" }]);
  const next = await app.post("/api/v1/fleet/heartbeat", { name: "r" });
  assert.deepEqual(next.body, { status: "ok", policy_version: "v1" });
});
