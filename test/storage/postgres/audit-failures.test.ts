/** The outcome of appends when the database, or the connection to it, fails in the middle. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Unavailable } from "../../../src/core/errors.ts";
import type { PostgresAudit } from "../../../src/storage/postgres/audit.ts";
import { append, auditEventOf, page } from "../../audit/store-suite.ts";
import { startCuttingProxy } from "../../support/cutting-proxy.ts";
import { Cluster, createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { migrate } from "../../../src/storage/postgres/migrations.ts";
import { auditServer } from "./open-audit.ts";

const skip = withoutPostgres;

/** A store that reaches a database through a proxy, beside the database's own URL. */
async function throughProxy(t: TestContext) {
  const url = await createDatabase();
  const { port } = new URL(url);
  const proxy = await startCuttingProxy(t, Number(port));
  const store = await auditServer(t, url.replace(port, String(proxy.port)));
  return { url, proxy, store };
}

test(
  "a connection that is lost in a commit: the sender hears so, and sends again safely",
  { skip },
  async (t) => {
    const { url, proxy, store } = await throughProxy(t);
    const direct = await auditServer(t, url);
    await append(store, [auditEventOf()]);
    proxy.cutAt("audit_append_1", "after");
    const event = auditEventOf({ command: "once" });
    await assert.rejects(
      append(store, [event]),
      (error) => error instanceof Unavailable && error.message.endsWith("same ids, which is safe"),
    );
    assert.equal((await page(direct, { q: "once" })).total, 1);
    assert.deepEqual(await append(store, [event, { ...event, command: "twice" }]), [event, event]);
    assert.equal((await page(direct)).total, 2);
    assert.equal(store.figures.pending, 0);
  },
);

test(
  "while the database answers nothing, what waits is bounded, and stored when it is back",
  { skip },
  async (t) => {
    const { proxy, store } = await throughProxy(t);
    await append(store, [auditEventOf()]);
    proxy.freeze();
    const batch = () => Array.from({ length: 1_000 }, () => auditEventOf());
    const waiting = Promise.allSettled(Array.from({ length: 30 }, () => append(store, batch())));
    await assert.rejects(append(store, [auditEventOf()]), /Too many events wait/);
    proxy.thaw();
    const stored = (await waiting).filter(({ status }) => status === "fulfilled");
    assert.ok(stored.length >= 11 && stored.length < 25, `${stored.length}`);
    assert.equal((await page(store)).total, 1 + 1_000 * stored.length);
    assert.deepEqual([store.figures.pending, store.figures.pendingBytes], [0, 0]);
  },
);

test(
  "a database that crashes under load loses no event that was acknowledged",
  { skip },
  async (t) => {
    const cluster = await Cluster.start();
    t.after(() => cluster.remove());
    await cluster.sql("CREATE DATABASE events");
    const url = cluster.url("events");
    const first = await openDatabase(url);
    await migrate(first);
    await first.close();
    const servers = [await auditServer(t, url), await auditServer(t, url)];
    let isOver = false;
    const acknowledged = new Set<string>();
    const sent = new Set<string>();
    const senders = servers.flatMap((server) => Array.from({ length: 8 }, () => sendOn(server)));
    async function sendOn(server: PostgresAudit): Promise<void> {
      while (!isOver) {
        const events = [auditEventOf(), auditEventOf()];
        for (const { id } of events) sent.add(id);
        // Until it is acknowledged, under the same ids.
        for (let isStored = false; !isStored;) {
          isStored = await append(server, events).then(
            () => true,
            (error: unknown) => {
              assert.ok(error instanceof Unavailable, String(error));
              return false;
            },
          );
          if (!isStored) await new Promise((resolve) => void setTimeout(resolve, 5));
        }
        for (const { id } of events) acknowledged.add(id);
      }
    }
    const reached = async (count: number): Promise<void> => {
      while (acknowledged.size < count) await new Promise((resolve) => void setImmediate(resolve));
    };
    for (let round = 1; round <= 3; round++) {
      await reached(acknowledged.size + 200);
      await cluster.down("immediate");
      await cluster.up();
    }
    await reached(acknowledged.size + 200);
    isOver = true;
    await Promise.all(senders);
    const [server] = servers as [PostgresAudit];
    const stored: string[] = [];
    for await (const piece of (await server.export("acme", {})).rows) {
      for (const [, id] of piece.toString().matchAll(/"id":"([^"]+)"/g)) stored.push(id as string);
    }
    assert.equal(new Set(stored).size, stored.length, "an event is there twice");
    assert.deepEqual(new Set(stored), acknowledged);
    assert.deepEqual(acknowledged, sent);
    const usage = await server.usage("acme");
    assert.equal(usage.events, stored.length);
  },
);
