/** How organizations share the connections for searches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { FleetReports } from "../../../src/storage/postgres/fleet-reports.ts";
import { fleetOver } from "../../../src/storage/postgres/fleet.ts";
import { plainSession } from "../../../src/storage/postgres/session.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { silent } from "../../support/silent-log.ts";

const skip = withoutPostgres;

for (const poolSize of [1, 10]) {
  test(
    `slow searches of one organization leave a connection to the others (${poolSize})`,
    { skip },
    async (t) => {
      const database = await openDatabase(await createDatabase("empty"), poolSize);
      t.after(() => database.close());
      const leaving = new AbortController();
      const slow = Array.from({ length: 6 }, () =>
        database.search("SELECT pg_sleep(60), $1::text", ["noisy"], { gone: leaving.signal }),
      );
      const ended = Promise.allSettled(slow);
      const running = async (): Promise<number> => {
        const [active] = await database.query<{ n: number }>(
          `SELECT count(*) AS n FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`,
        );
        return active?.n ?? 0;
      };
      const most = Math.max(1, Math.floor(poolSize / 4));
      while ((await running()) < most) await setImmediate();
      for (const organization of ["quiet", "other"]) {
        const found = await database.search("SELECT $1::text AS name", [organization]);
        assert.deepEqual(found, [{ name: organization }]);
      }
      assert.equal(await running(), most);
      // Those of another prefix of the organization have a connection, too, and still leave one to the others.
      for (const network of ["a", "b"]) {
        const party = ["v1", "noisy", network];
        const found = await database.search("SELECT $1::text AS name", ["noisy"], { party });
        assert.deepEqual(found, [{ name: "noisy" }]);
      }
      const slowToo = Array.from({ length: 6 }, () =>
        database.search("SELECT pg_sleep(60), $1::text", ["noisy"], {
          party: ["v1", "noisy", "a"],
          gone: leaving.signal,
        }),
      );
      const endedToo = Promise.allSettled(slowToo);
      while ((await running()) < most + 1) await setImmediate();
      assert.equal((await database.search("SELECT $1::text", ["quiet"])).length, 1);
      assert.equal(await running(), most + 1);
      leaving.abort(new Error("left"));
      const all = [...(await ended), ...(await endedToo)];
      for (const { status } of all) assert.equal(status, "rejected");
    },
  );
}

test(
  "counts and searches of runtimes use no connection of short statements",
  { skip },
  async (t) => {
    const database = await openDatabase(await createDatabase(), 1);
    t.after(() => database.close());
    const fleet = fleetOver(database, plainSession(database), new FleetReports(database), silent);
    const held = await database.begin(); // the only one
    const query = { now: 0, active: "", q: "a" };
    try {
      for await (const slice of await fleet.list("acme", query)) assert.deepEqual(slice, []);
      const drifted = { now: 0, active: "v1", drifted: "true" } as const;
      for await (const slice of await fleet.list("acme", drifted)) assert.deepEqual(slice, []);
      assert.equal((await fleet.counts("acme", 0, { active: "v1" })).total, 0);
      assert.deepEqual(await fleet.policies("acme", 0, 10), []);
    } finally {
      await held.rollback();
    }
  },
);

test("maintenance waits for other maintenance without a limit of time", { skip }, async (t) => {
  const database = await openDatabase(await createDatabase("empty"), 1);
  t.after(() => database.close());
  t.mock.method(AbortSignal, "timeout", () => AbortSignal.abort(new Error("late")));
  const hold = await database.begin();
  await hold.run("SELECT pg_advisory_xact_lock(1)");
  const first = database.maintain("SELECT pg_advisory_xact_lock(1)");
  const second = database.maintain("SELECT 2");
  await hold.rollback();
  await Promise.all([first, second]);
});
