/** Servers over PostgreSQL may be killed at any moment of a removal by retention: no signed entry seems to be missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../../src/core/clock.ts";
import { formatTimestamp } from "../../../src/core/time.ts";
import { createIds } from "../../../src/core/ids.ts";
import { newPrivateKey, vkeyOf } from "../../../src/proof/note.ts";
import { ActivityWriter } from "../../../src/storage/postgres/activity.ts";
import { retain, sweep } from "../../../src/storage/postgres/audit/retention.ts";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { createDefaultOrganization } from "../../../src/storage/postgres/organizations.ts";
import type { Removing } from "../../../src/storage/postgres/proof/removing.ts";
import { LogSigner } from "../../../src/storage/postgres/proof/signer.ts";
import { run } from "../../support/command-line.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { signerFor } from "../../support/sign-logs.ts";
import { silent } from "../../support/silent-log.ts";
import { start, type Scope } from "../../support/start.ts";

const skip = withoutPostgres;
const key = newPrivateKey();
const DAY = "2026-11-20T00:00:00.000Z";

/** A database with 10,005 entries of a day, a signer over it, and what `verify` says about its activity log. */
async function signed(t: Scope) {
  const url = await createDatabase();
  const database = await openDatabase(url, 4);
  t.after(() => database.close());
  await createDefaultOrganization(database, Date.parse(DAY));
  await database.run(
    `INSERT INTO activity (organization_id, timestamp, entry)
     SELECT 'default', $1, json_build_object('id', 'a' || n) FROM generate_series(0, 10004) AS n`,
    [DAY],
  );
  const now = () => Date.parse(DAY) + 10 * DAY_MS;
  const signer = await LogSigner.open({
    ...{ database, now, ids: createIds(now), log: silent, keys: { key, earlier: [] } },
    ...{ host: "signalbox.example.com", seconds: 86_400 },
  });
  t.after(() => signer.close());
  await signer.round();
  const removing: Removing = (named, leaving) => signer.sign(named, undefined, { leaving });
  const checked = async () => {
    const vkey = vkeyOf(signerFor("activity", key));
    const { out } = await run(["verify", "--database", url, "--key", vkey, "--json"]);
    const { problems, logs } = JSON.parse(out) as {
      problems: readonly { table: string; problem: string }[];
      logs: readonly { log: string; first: number; events: number; covered: number }[];
    };
    const ofLog = problems.filter(({ table }) => table.startsWith("activity of"));
    assert.deepEqual(ofLog, []);
    const found = logs.find(({ log }) => log === "activity");
    return [found?.first, found?.events, found?.covered];
  };
  const count = async () => (await database.query("SELECT FROM activity")).length;
  return { url, database, signer, removing, checked, count, now };
}

/** Signs, and then ends as a server that is killed before the rows are removed. */
function killedAfter(removing: Removing): Removing {
  return async (named, upTo) => {
    await removing(named, upTo);
    throw new Error("killed");
  };
}

for (const what of ["their age", "the size of the log"] as const) {
  test(`entries that leave for ${what} are never missing`, { skip }, async (t) => {
    const { database, removing, checked, count, now } = await signed(t);
    const remove = async (asked: Removing): Promise<void> => {
      const kept = 10_000 * 15; // `{"id" : "a9999"}` and a line end are longer
      const writer = new ActivityWriter(database, what === "their age" ? Infinity : kept, asked);
      if (what === "the size of the log") return writer.trim("default");
      return writer.removeOlder("default", formatTimestamp(now() - DAY_MS));
    };
    await assert.rejects(remove(killedAfter(removing)), /killed/);
    assert.equal(await count(), 10_005);
    const [first = 0] = await checked();
    assert.ok(first > 0);
    await remove(async () => false);
    assert.equal(await count(), 10_005);
    await remove(removing);
    assert.equal(await count(), 10_005 - first);
    assert.deepEqual(await checked(), [first, 10_005, 10_005]);
  });
}

test("events of the audit log that cannot be signed stay", { skip }, async (t) => {
  const url = await createDatabase();
  const app = await start(t, {}, undefined, (parts) =>
    openPostgresEngine({
      ...parts,
      config: { ...parts.config, databaseUrl: url, databasePoolSize: 4 },
    }),
  );
  await app.post("/api/v1/audit", { events: [{ command: "echo 1" }] });
  await app.close();
  const database = await openDatabase(url, 2);
  t.after(() => database.close());
  const { length } = await retain(database, undefined, Date.parse("2030-01-01"), silent);
  assert.equal(length, 1);
  const count = async () => (await database.query("SELECT FROM audit_events")).length;
  await sweep(database, 0, async () => false);
  assert.equal(await count(), 1);
  await sweep(database, 0, async () => true);
  assert.equal(await count(), 0);
});
