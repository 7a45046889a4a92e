/** The audit store over PostgreSQL keeps every promise of the interface: the same suites as the files. */
import test, { type TestContext } from "node:test";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { testActivityAgainstNaive, testAgainstNaive } from "../../audit/store-property.ts";
import { testAuditStore, type AuditEngine } from "../../audit/store-suite.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { auditOver } from "./open-audit.ts";
/** Counts some events when they are stored, and leaves others to the queries. */
const storeOver = (database: Database) => auditOver(database, { countAfter: 7 });

async function openedOver(database: Database): Promise<AuditEngine> {
  let store = storeOver(database);
  return {
    store,
    async restart() {
      await store.close();
      store = storeOver(database);
      return store;
    },
    close: () => store.close(),
  };
}

async function database(t: TestContext): Promise<Database> {
  const opened = await openDatabase(await createDatabase());
  t.after(() => opened.close());
  return opened;
}

/** Runs of each property: every one takes five times as long as over files, where the same seed makes the others too. */
const RUNS = 40;

const TABLES =
  "audit_heads, audit_events, audit_ids, audit_days, audit_minutes, audit_provider_minutes, " +
  "audit_counted, audit_hours, audit_values";

if (withoutPostgres) test("the audit store over PostgreSQL", { skip: withoutPostgres }, () => {});
else {
  testAuditStore(async (t) => {
    const opened = await openedOver(await database(t));
    t.after(() => opened.close?.());
    return opened;
  });

  // A database of its own for each of these runs would take most of the time.
  let shared: Promise<Database> | undefined;
  const emptied = async (t: TestContext): Promise<AuditEngine> => {
    const own = await (shared ??= database(t));
    await own.run(`TRUNCATE ${TABLES}`);
    return openedOver(own);
  };
  testAgainstNaive(emptied, RUNS);
  testActivityAgainstNaive(async (t) => openedOver(await database(t)), RUNS);
}
