import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Unauthenticated, Unavailable } from "../../../src/core/errors.ts";
import type { Database, Transaction } from "../../../src/storage/postgres/database.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";

const skip = withoutPostgres;

async function open(t: TestContext, poolSize?: number): Promise<Database> {
  const database = await openDatabase(await createDatabase("empty"), poolSize);
  t.after(() => database.close());
  return database;
}

test("bigint is read as a number", { skip }, async (t) => {
  const database = await open(t);
  assert.deepEqual(await database.query("SELECT 4000000000000::bigint AS n"), [
    { n: 4_000_000_000_000 },
  ]);
});

test(
  "options in the URL are kept, and do not replace those of the service",
  { skip },
  async (t) => {
    const url = await createDatabase("empty");
    for (const query of [
      "?options=-c%20search_path%3Dpg_catalog+-c+jit%3Don",
      "?options=-c%20jit%3Don&options=-c%20search_path%3Dpg_catalog",
      "?sslmode=disable&options=-c%20search_path%3Dpg_catalog&keepalives=1",
    ]) {
      const database = await openDatabase(`${url}${query}`, 1);
      t.after(() => database.close());
      const names = ["search_path", "jit", "datestyle"];
      const settings = await database.query<{ value: string }>(
        "SELECT current_setting(name) AS value FROM unnest($1::text[]) AS name",
        [names],
      );
      assert.deepEqual(
        settings.map(({ value }) => value),
        ["pg_catalog", "off", "ISO, MDY"],
      );
    }
  },
);

test("a transaction commits everything or nothing", { skip }, async (t) => {
  const database = await open(t);
  await database.run("CREATE TABLE t (n integer)");
  const insert = (then?: Error): Promise<void> =>
    database.transaction(async (transaction) => {
      await transaction.run("INSERT INTO t VALUES (1)");
      if (then) throw then;
    });
  await assert.rejects(insert(new Error("no")), /^Error: no$/);
  assert.deepEqual(await database.query("SELECT * FROM t"), []);
  await insert();
  assert.deepEqual(await database.query("SELECT * FROM t"), [{ n: 1 }]);
});

test("two transactions in a deadlock both succeed, one after the other", { skip }, async (t) => {
  const database = await open(t);
  await database.run("CREATE TABLE t (k integer PRIMARY KEY, n integer)");
  await database.run("INSERT INTO t VALUES (1, 0), (2, 0)");
  let runs = 0;
  const add = (first: number, second: number): Promise<void> =>
    database.transaction(async (transaction) => {
      await transaction.run("UPDATE t SET n = n + 1 WHERE k = $1", [first]);
      runs++;
      while (runs < 2) await turn(); // each holds the row that the other one needs
      await transaction.run("UPDATE t SET n = n + 1 WHERE k = $1", [second]);
    });
  await Promise.all([add(1, 2), add(2, 1)]);
  // More than once if the repeated one takes its row before the other, which waits for it, has woken up.
  assert.ok(runs > 2, "one transaction was run again");
  assert.deepEqual(await database.query("SELECT n FROM t"), [{ n: 2 }, { n: 2 }]);
});

test("a defect is passed on unchanged, and its connection stays open", { skip }, async (t) => {
  const database = await open(t, 1);
  const pid = async () => await database.query("SELECT pg_backend_pid() AS pid");
  const before = await pid();
  await assert.rejects(database.query("SELECT nonsense"), { code: "42703" });
  assert.deepEqual(await pid(), before);
});

test("a lock that is not free in time is a transient failure", { skip }, async (t) => {
  const database = await open(t, 2);
  const holder = await database.begin();
  await holder.run("CREATE TABLE t (k integer); COMMIT; BEGIN; LOCK TABLE t");
  const waiting = database.transaction(async (transaction) => {
    await transaction.run("SET LOCAL lock_timeout = '1ms'");
    await transaction.query("SELECT FROM t");
  });
  await assert.rejects(waiting, Unavailable);
  await holder.rollback();
});

test("a connection that the database closed is replaced", { skip }, async (t) => {
  const database = await open(t, 1);
  const killed = database.query("SELECT pg_terminate_backend(pg_backend_pid())");
  await assert.rejects(killed, Unavailable);
  assert.deepEqual(await database.query("SELECT 1 AS n"), [{ n: 1 }]);
});

test(
  "the error of a change whose connection is lost says that the outcome is unknown",
  { skip },
  async (t) => {
    const database = await open(t, 1);
    const killed = database.run("SELECT pg_terminate_backend(pg_backend_pid())");
    await assert.rejects(killed, /may have been made or not/);
  },
);

test("a search ends when its reader leaves", { skip }, async (t) => {
  const database = await open(t);
  const leaving = new AbortController();
  const search = database.search("SELECT pg_sleep(60)", [], { gone: leaving.signal });
  const running = () =>
    database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
       AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%pg_sleep(60)%'`,
    );
  while ((await running()).length === 0);
  leaving.abort(new Error("left"));
  await assert.rejects(search, /^Error: left$/);
  while ((await running()).length > 0);
});

test("a search that takes too long is refused with the way out", { skip }, async (t) => {
  const database = await open(t);
  const limited = "SET statement_timeout = '50ms'; SELECT pg_sleep(60)";
  await assert.rejects(database.search(limited, []), /narrow it, such as by from and to/);
});

test(
  "a client's transactions take turns, and look at its credentials again",
  { skip },
  async (t) => {
    const database = await open(t, 4);
    const party = ["v1", "acme", "192.0.2.1"];
    const first = await database.begin({ party });
    let began = 0;
    const begin = async (asker: Parameters<Database["begin"]>[0]) => {
      const transaction = await database.begin(asker);
      began++;
      return transaction;
    };
    const ended = begin({
      party,
      recheck: () => {
        throw new Unauthenticated("ended");
      },
    });
    const next = begin({ party });
    const left = new AbortController();
    const gone = begin({ party, gone: left.signal });
    await (await begin({ party: ["v1", "other", "192.0.2.1"] })).rollback();
    left.abort(new Error("left"));
    await assert.rejects(gone, /^Error: left$/);
    assert.equal(began, 1);
    await first.rollback();
    await assert.rejects(ended, Unauthenticated);
    await (await next).rollback();
    assert.equal(began, 2);
  },
);

test(
  "an organization leaves a turn of changes to the others, and a prefix of it to the other",
  { skip },
  async (t) => {
    const database = await open(t, 10);
    const left = new AbortController();
    const begun: Transaction[] = [];
    const begin = async (...party: readonly string[]): Promise<void> => {
      const transaction = await database.begin({ party, gone: left.signal });
      begun.push(transaction);
    };
    const burst = (surface: string) =>
      Array.from({ length: 6 }, (_, n) => begin(surface, "acme", `192.0.2.${n}`));
    const bursts = Promise.allSettled([...burst("public"), ...burst("v1")]);
    while (begun.length < 4) await turn();
    await begin("v1", "other", "192.0.2.1");
    assert.equal(begun.length, 5);
    left.abort(new Error("left"));
    const outcomes = (await bursts).map(({ status }) => status === "fulfilled");
    assert.equal(outcomes.slice(0, 6).filter(Boolean).length, 3);
    assert.equal(outcomes.slice(6).filter(Boolean).length, 1);
    for (const transaction of begun) await transaction.rollback();
  },
);
