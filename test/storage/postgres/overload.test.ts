/** Limits of a server whose database has no connection left for it, or is frozen under load. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { Client, type Answer } from "../../support/client.ts";
import { Cluster, withoutPostgres } from "../../support/postgres.ts";
import { launch } from "../../support/server-process.ts";
import { start } from "../../support/start.ts";

const skip = withoutPostgres;
const POLICIES = "/api/v1/policies";
const ACTIVE = `${POLICIES}?active=true`;

/**
 * A request waits for a connection, for the statements before its own, and for its own: 30 s on a machine that
 * has time. A request that hangs takes ten minutes, the limit of a test.
 */
const LIMIT_MS = 120_000;
const MOST_GROWTH_KIB = 400 * 1024;

let cluster: Cluster;

before(async () => {
  if (skip === false) cluster = await Cluster.start({ fsync: false });
});
after(() => cluster?.remove());

async function until(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  const end = performance.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer.status === status) return answer;
    assert.ok(performance.now() < end, `It never answered ${status}`);
    await wait(20);
  }
}

test("a server continues with the connections that the database allows", { skip }, async (t) => {
  await cluster.sql("CREATE ROLE few LOGIN CONNECTION LIMIT 3");
  await cluster.sql("CREATE DATABASE few OWNER few");
  const app = await start(t, {}, undefined, (parts) => {
    const config = { ...parts.config, databaseUrl: cluster.url("few", "few") };
    return openPostgresEngine({ ...parts, config });
  });
  const statuses = async (count: number): Promise<readonly number[]> => {
    const publish = (n: number) => app.post(POLICIES, { version: `v${n}`, yaml: "a: 1" });
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => publish(n)));
    return [...new Set(answers.map(({ status }) => status))].sort();
  };
  // More than the pool, and few enough that none waits five seconds for one of three connections on a busy machine.
  assert.deepEqual(await statuses(20), [201]);

  await cluster.sql("ALTER ROLE few CONNECTION LIMIT 0");
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'";
  await cluster.sql(end);
  const { body, headers } = await until(() => app.get(ACTIVE), 503);
  assert.match(body.error, /^The database/);
  assert.ok(Number(headers.get("retry-after")) > 0);
  await until(async () => {
    const refused = await app.get(ACTIVE);
    assert.equal(refused.status, 503);
    return /no free connection/.test(refused.body.error) ? { ...refused, status: 1 } : refused;
  }, 1);
  // Fewer than the new connections that Linux keeps for a busy server: it drops further ones, and resets some.
  assert.deepEqual(await statuses(500), [503]);
  assert.equal((await app.get("/ready")).status, 503);

  await cluster.sql("ALTER ROLE few CONNECTION LIMIT 3");
  await until(() => app.get(ACTIVE), 200);
  assert.deepEqual(await statuses(20), [409]);
  assert.equal((await until(() => app.get("/ready"), 200)).status, 200);
});

test(
  "while the database is frozen under load, every request ends in time and memory stays bounded",
  { skip },
  async (t) => {
    await cluster.sql("CREATE DATABASE frozen");
    const server = launch(t, { DATABASE_URL: cluster.url("frozen"), LOG_LEVEL: "silent" });
    const url = await server.url();
    const client = new Client();
    t.after(() => client.close());
    const send = (method: string, path: string, body?: object) =>
      client.request(url, method, path, body);
    const events = Array.from({ length: 200 }, () => ({ command: "x".repeat(1_000) }));
    let count = 0;
    const requests: readonly (() => Promise<Answer>)[] = [
      () => send("POST", "/api/v1/audit", { events }),
      () => send("POST", "/api/v1/audit", { command: "ls" }),
      () => send("GET", ACTIVE),
      () => send("POST", "/api/v1/fleet/heartbeat", { name: `r${count++ % 50}` }),
      () => send("POST", POLICIES, { version: `v${count++}`, yaml: "a: 1" }),
      () => send("POST", "/api/v1/api-keys", { name: "k" }),
      () => send("GET", "/api/v1/audit?q=x"),
      () => send("POST", "/api/v1/auth/login", { email: "a@example.com", password: "x" }),
      () => send("GET", "/ready"),
    ];
    for (const request of requests) await request();
    const residentKib = (): number => {
      const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]);
    };
    const before = residentKib();
    const signal = (name: NodeJS.Signals, pids: readonly number[]): void => {
      for (const pid of pids) process.kill(pid, name);
    };
    const children = execFileSync("pgrep", ["-P", String(cluster.pid)], { encoding: "utf8" });
    const pids = [cluster.pid, ...children.trim().split("\n").map(Number)];
    let [isOver, longestMs, mostKib, refused] = [false, 0, before, 0];
    const repeat = async (request: () => Promise<Answer>): Promise<void> => {
      while (!isOver) {
        const began = performance.now();
        const { status } = await request();
        const ms = performance.now() - began;
        if (status === 503) refused++;
        longestMs = Math.max(longestMs, ms);
        mostKib = Math.max(mostKib, residentKib());
        if (ms < 50) await wait(50);
      }
    };
    signal("SIGSTOP", pids);
    try {
      const load = Array.from({ length: 270 }, (_, n) => repeat(requests[n % 9] as never));
      await wait(16_000); // the limit of a statement, and that of a new connection after it
      assert.equal((await send("GET", "/health")).body.status, "degraded");
      while (refused <= load.length) await wait(20); // a busy machine takes longer
      isOver = true;
      await Promise.all(load);
    } finally {
      signal("SIGCONT", pids);
    }
    assert.ok(longestMs < LIMIT_MS, `a request took ${longestMs} ms`);
    assert.ok(mostKib - before < MOST_GROWTH_KIB, `it grew from ${before} to ${mostKib} KiB`);
    await until(() => send("GET", "/ready"), 200);
    assert.equal((await until(() => send("GET", ACTIVE), 200)).status, 200);
    const stored = await send("POST", "/api/v1/audit", { command: "after" });
    assert.equal(stored.status, 202);
  },
);
