/** Rows that retention removes while an answer is read: no answer ends as if it was whole. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { DAY_MS } from "../../../../src/core/clock.ts";
import { Unavailable } from "../../../../src/core/errors.ts";
import { answerExport } from "../../../../src/storage/postgres/audit/answers.ts";
import { Readers } from "../../../../src/storage/postgres/audit/readers.ts";
import { retain, sweep } from "../../../../src/storage/postgres/audit/retention.ts";
import type { Database } from "../../../../src/storage/postgres/database.ts";
import { openPostgresEngine } from "../../../../src/storage/postgres/engine.ts";
import { append, auditEventOf, NOON, ORGANIZATION } from "../../../audit/store-suite.ts";
import { silent } from "../../../support/silent-log.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../../support/postgres.ts";
import { start } from "../../../support/start.ts";
import { auditServer } from "../open-audit.ts";

const skip = withoutPostgres;

async function opened(t: TestContext): Promise<{ url: string; database: Database }> {
  const url = await createDatabase();
  const database = await openDatabase(url, 4);
  t.after(() => database.close());
  return { url, database };
}

for (const format of ["ndjson", "csv"]) {
  test(`an export as ${format} that lacks some of its events is cut`, { skip }, async (t) => {
    const { url, database } = await opened(t);
    const app = await start(t, {}, undefined, (parts) =>
      openPostgresEngine({
        ...parts,
        config: { ...parts.config, databaseUrl: url, databasePoolSize: 4 },
      }),
    );
    const events = Array.from({ length: 20 }, (_, n) => ({ command: `echo ${n}` }));
    await app.post("/api/v1/audit", { events });
    const transaction = await database.begin();
    await transaction.run("LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE");
    const answer = fetch(`${app.url}/api/v1/audit/export?format=${format}`);
    // The lease is written when the events are counted.
    while ((await database.query("SELECT FROM audit_readers")).length === 0);
    await transaction.run("DELETE FROM audit_events WHERE seq <= 10");
    await transaction.commit();
    await assert.rejects(async () => (await answer).text());
  });
}

test("a deleted lease is not made anew: its export is cut at once", { skip }, async (t) => {
  const { url, database } = await opened(t);
  await append(await auditServer(t, url), [auditEventOf({ command: "echo" })]);
  const readers = new Readers(database, 1);
  t.after(() => readers.close());
  const { rows } = await answerExport(database, ORGANIZATION, { q: "echo" }, undefined, readers);
  const transaction = await database.begin();
  try {
    await transaction.run("LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE");
    const piece = rows[Symbol.asyncIterator]().next();
    await database.run("DELETE FROM audit_readers");
    await assert.rejects(piece, /: Some of the events were removed/);
  } finally {
    await transaction.rollback();
  }
  assert.deepEqual(await database.query("SELECT FROM audit_readers"), []);
});

test(
  "an export that has ended gives up its lease, and a renewed one is kept",
  { skip },
  async (t) => {
    const { database } = await opened(t);
    const readers = new Readers(database, 1);
    const { lost, end } = await readers.keep([{ day: "2026-01-02" }]);
    await database.run("UPDATE audit_readers SET expires_at = now()");
    const renewed = "SELECT FROM audit_readers WHERE expires_at > now() + interval '30 seconds'";
    while ((await database.query(renewed)).length === 0);
    assert.equal(lost.aborted, false);
    await database.run("DELETE FROM audit_readers");
    if (!lost.aborted) await once(lost, "abort");
    end();
    assert.deepEqual(await database.query("SELECT FROM audit_readers"), []);
  },
);

test("the lease of a server that was stopped for a while can be renewed", { skip }, async (t) => {
  const { database } = await opened(t);
  const readers = new Readers(database, 1 << 30);
  t.after(() => readers.close());
  await readers.keep([{ day: "2026-01-02" }]);
  for (const [ago, left] of [
    ["10 minutes", 1],
    ["2 hours", 0],
  ] as const) {
    await database.run(`UPDATE audit_readers SET expires_at = now() - interval '${ago}'`);
    await sweep(database, 0);
    assert.equal((await database.query("SELECT FROM audit_readers")).length, left);
  }
});

test("an export keeps removed events for a day", { skip }, async (t) => {
  const { url, database } = await opened(t);
  const store = await auditServer(t, url);
  await append(store, [auditEventOf()]);
  const { rows } = await store.export(ORGANIZATION, {});
  await retain(database, ORGANIZATION, NOON + DAY_MS, silent);
  for (const [hours, left] of [
    [23, 1],
    [25, 0],
  ] as const) {
    await database.run(`UPDATE audit_days SET removed_at = now() - interval '${hours} hours'`);
    await sweep(database);
    assert.equal((await database.query("SELECT FROM audit_days")).length, left);
  }
  await assert.rejects(rows[Symbol.asyncIterator]().next(), /: Some of the events were removed/);
});

test("a page with a long event that was removed meanwhile is cut", { skip }, async (t) => {
  const { url, database } = await opened(t);
  const store = await auditServer(t, url);
  const command = "x".repeat(600_000);
  await append(store, [auditEventOf(), auditEventOf({ command }), auditEventOf()]);
  const { json } = await store.page(ORGANIZATION, {}, 5, 0);
  assert.ok(!Buffer.isBuffer(json));
  const pieces = json[Symbol.asyncIterator]();
  assert.ok((await pieces.next()).value);
  await database.run("DELETE FROM audit_events WHERE seq <= 2");
  await assert.rejects(pieces.next(), Unavailable);
});
