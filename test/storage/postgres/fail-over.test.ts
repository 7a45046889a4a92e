/** Fail-over to a synchronous streaming replica, which becomes the primary. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startCuttingProxy, type CuttingProxy } from "../../support/cutting-proxy.ts";
import {
  compare,
  compareEveryEntry,
  events,
  keys,
  Ledger,
  SINGLE_WRITERS,
  users,
  type Send,
  type Writer,
} from "../../support/kill-ledger.ts";
import { Cluster, withoutPostgres } from "../../support/postgres.ts";
import { startThree } from "../../support/servers.ts";
import type { App } from "../../support/start.ts";

const skip = withoutPostgres;
const POLICIES = "/api/v1/policies";
const ACTIVE = `${POLICIES}?active=true`;

/** The longest that a request may take: it waits for a statement under way, and for its own. */
const LIMIT_MS = 25_000;

interface Replicated {
  readonly primary: Cluster;
  readonly replica: Cluster;
  readonly proxy: CuttingProxy;
  readonly servers: readonly [App, App, App];
}

/** Starts three servers that reach a primary, with a synchronous replica, through a proxy. */
async function startReplicated(t: TestContext): Promise<Replicated> {
  const primary = await Cluster.start();
  t.after(() => primary.remove());
  await primary.sql("CREATE DATABASE signalbox");
  const replica = await Cluster.replicaOf(primary);
  t.after(() => replica.remove());
  await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.sql("SELECT pg_reload_conf()");
  const sync = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
  while ((await primary.sql(sync)) !== "1") await wait(20);
  const proxy = await startCuttingProxy(t, primary.port);
  const url = primary.url("signalbox").replace(String(primary.port), String(proxy.port));
  return { primary, replica, proxy, servers: await startThree(t, {}, url) };
}

test("a fail-over to the replica loses nothing that was acknowledged", { skip }, async (t) => {
  const { primary, replica, proxy, servers } = await startReplicated(t);
  const ledger = new Ledger();
  let [answers, failures, longestMs, turn, isOver] = [0, 0, 0, 0, false];
  const send: Send = async (method, path, body) => {
    const server = servers[turn++ % servers.length] as App;
    const began = performance.now();
    const answer = await server.request(method, `/api/v1${path}`, body);
    longestMs = Math.max(longestMs, performance.now() - began);
    if (answer.status === 503) {
      failures++;
      throw new Error("it may have been done or not");
    }
    answers++;
    return answer;
  };
  const repeat = async (write: Writer): Promise<void> => {
    while (!isOver) {
      await write(send, ledger).catch(async (error: unknown) => {
        if (error instanceof assert.AssertionError) throw error;
        await wait(10);
      });
    }
  };
  const reached = async (count: number): Promise<void> => {
    while (answers < count && !isOver) await wait(1);
  };
  const failOver = async (): Promise<void> => {
    await reached(300);
    await primary.down("immediate");
    await replica.promote();
    proxy.leadTo(replica.port);
    await reached(answers + 300);
    isOver = true;
  };
  // Without runtimes: the report of a known runtime waits neither for the disk nor for the replica.
  const several = [events(1), events(1), events(1), events(10), events(25), keys, users];
  const writers = [...several, ...several, ...SINGLE_WRITERS].map(repeat);
  await Promise.all([failOver(), ...writers]).finally(() => (isOver = true));
  await compare(send, ledger);
  await compareEveryEntry(send);
  assert.ok(failures > 0);
  assert.ok(longestMs < LIMIT_MS, `a request took ${longestMs} ms`);
});

test(
  "once the old primary is read-only, no answer comes from it, though its connections stay",
  { skip },
  async (t) => {
    const { primary, replica, proxy, servers } = await startReplicated(t);
    const [one, ...others] = servers;
    const publish = (version: string) => one.post(POLICIES, { version, yaml: `a: ${version}` });
    const report = (command: string) => one.post("/api/v1/audit", { command });
    assert.equal((await publish("v1")).status, 201);
    assert.equal((await report("before")).status, 202);
    for (const server of servers) {
      await Promise.all(Array.from({ length: 10 }, () => server.get(ACTIVE)));
      assert.equal((await server.get("/api/v1/audit?q=before")).body.total, 1);
    }
    await primary.sql("ALTER SYSTEM SET default_transaction_read_only = on");
    await primary.sql("SELECT pg_reload_conf()");
    while ((await primary.sql("SHOW default_transaction_read_only")) !== "on") await wait(10);
    await replica.promote();
    proxy.leadTo(replica.port);
    const until = async (ask: () => Promise<{ readonly status: number }>, status: number) => {
      for (let asked = 0; (await ask()).status !== status; asked++) {
        assert.ok(asked < 1_000);
        await wait(10);
      }
    };
    await until(() => publish("v2"), 201);
    await until(() => report("after"), 202);
    for (const server of others) {
      // The first answers may be refusals, but an outdated answer is not allowed.
      for (let n = 0; n < 20; n++) {
        const { status, body } = await server.get(ACTIVE);
        assert.ok(status === 503 || body.version === "v2", `${status} ${body.version}`);
        const found = await server.get("/api/v1/audit?q=after");
        assert.ok(found.status === 503 || found.body.total === 1, found.text);
      }
      assert.equal((await server.get(ACTIVE)).body.version, "v2");
      assert.equal((await server.get("/api/v1/audit?q=after")).body.total, 1);
      assert.equal((await server.get("/ready")).status, 200);
    }
  },
);
