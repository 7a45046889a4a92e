/** Retention over a database: a statement that fails for one organization stops no other one's. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { forEachOrganization } from "../../../src/core/each-organization.ts";
import { DAY_MS } from "../../../src/core/clock.ts";
import { createLog } from "../../../src/core/log.ts";
import {
  activityOver,
  ActivityWriter,
  insertEntries,
} from "../../../src/storage/postgres/activity.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { fleetOver } from "../../../src/storage/postgres/fleet.ts";
import { FleetReports } from "../../../src/storage/postgres/fleet-reports.ts";
import { plainSession } from "../../../src/storage/postgres/session.ts";
import { entryOf, idsOf } from "../../activity/store-suite.ts";
import { append, auditEventOf, NOON } from "../../audit/store-suite.ts";
import { report } from "../../fleet/store-suite.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { auditOver } from "./open-audit.ts";

const skip = withoutPostgres;

/** `acme`, whose statements fail, and others, so that it is not the last one in any order. */
const OTHERS = ["aaa", "zzz"];

/** A database with these organizations, and a log. */
async function open(t: TestContext) {
  const database = await openDatabase(await createDatabase(), 4);
  t.after(() => database.close());
  await database.run(
    `INSERT INTO organizations (id, name, created_at, updated_at)
     SELECT id, id, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z' FROM unnest($1::text[]) AS id`,
    [[...OTHERS, "acme"]],
  );
  const lines: string[] = [];
  const log = createLog(
    "error",
    () => 0,
    (line) => void lines.push(line),
  );
  const failures = (): readonly unknown[] =>
    lines.map((line) => {
      const { message, organization } = JSON.parse(line) as Record<string, unknown>;
      return [message, organization];
    });
  return { database, session: plainSession(database), log, failures };
}

/** From now on, statements that change rows of `acme` in a table fail. */
async function breakAcme(database: Database, table: string): Promise<void> {
  await database.run(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'this page is damaged'; END $$`);
  await database.run(`CREATE TRIGGER fail BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW
    WHEN (OLD.organization_id = 'acme') EXECUTE FUNCTION fail()`);
}

test("of the activity log", { skip }, async (t) => {
  const { database, session, log, failures } = await open(t);
  const activity = activityOver(database, session, new ActivityWriter(database, 1), log);
  for (const organization of [...OTHERS, "acme"]) {
    const entry = { ...entryOf(1), organization_id: organization };
    await database.transaction((transaction) => insertEntries(transaction, organization, [entry]));
  }
  await breakAcme(database, "activity");
  await activity.retain(0);
  const left = await database.query("SELECT organization_id AS id FROM activity");
  assert.deepEqual(left, [{ id: "acme" }]);
  assert.equal((await idsOf(activity))[1], 0);
  assert.deepEqual(failures(), [["activity retention failed", "acme"]]);
});

test("of the fleet", { skip }, async (t) => {
  const { database, session, log, failures } = await open(t);
  const fleet = fleetOver(database, session, new FleetReports(database), log);
  for (const organization of [...OTHERS, "acme"]) await report(fleet, organization, { name: "m" });
  await breakAcme(database, "runtimes");
  const forgotten = await fleet.forgetSilent(Number.MAX_SAFE_INTEGER);
  const ids = forgotten.map(({ organization }) => organization);
  assert.deepEqual(ids.sort(), OTHERS);
  assert.deepEqual(failures(), [["fleet retention failed", "acme"]]);
});

test("of the audit log", { skip }, async (t) => {
  const { database, log, failures } = await open(t);
  const audit = auditOver(database, { log });
  t.after(() => audit.close());
  for (const organization of [...OTHERS, "acme"]) {
    await append(audit, [auditEventOf({ organization_id: organization })], organization);
  }
  await breakAcme(database, "audit_days");
  const removed = await audit.retain(undefined, NOON + DAY_MS);
  assert.deepEqual(
    removed.map(({ organization }) => organization),
    OTHERS,
  );
  assert.deepEqual(failures(), [["audit retention failed", "acme"]]);
  await assert.rejects(audit.retain("acme", NOON + DAY_MS), /this page is damaged/);
});

test("a database that is away ends the work", { skip }, async (t) => {
  const { log, failures } = await open(t);
  const database = await openDatabase(await createDatabase(), 1);
  const asked: string[] = [];
  const parts = { check: () => database.query("SELECT"), log, failure: "failed" };
  const work = forEachOrganization(parts, OTHERS, async (id) => {
    asked.push(id);
    await database.close();
    throw new Error("the connection was lost");
  });
  await assert.rejects(work);
  assert.deepEqual([asked, failures()], [["aaa"], []]);
});
