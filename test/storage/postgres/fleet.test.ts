/** How lists of runtimes share the connections. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { FleetReports } from "../../../src/storage/postgres/fleet-reports.ts";
import { fleetOver } from "../../../src/storage/postgres/fleet.ts";
import { plainSession } from "../../../src/storage/postgres/session.ts";

test("lists of one organization are read on two connections, beside those of others", async () => {
  const reading: { organization: string; end: () => void }[] = [];
  const query = (_: string, [organization, names]: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve) => {
      const read = {
        organization: String(organization),
        end: () => {
          reading.splice(reading.indexOf(read), 1);
          const listed = Array.from({ length: 3 }, (__, n) => ({
            names: `{${n}}`,
            seen: `{${n}}`,
          }));
          resolve(names === undefined ? listed : []);
        },
      };
      reading.push(read);
    });
  const database = { query } as unknown as Database;
  const fleet = fleetOver(database, plainSession(database), new FleetReports(database));
  const list = async (organization: string, network: string): Promise<void> => {
    const searcher = { party: ["public", organization, network] };
    const slices = await fleet.list(organization, { now: 0, active: "" }, searcher);
    for await (const slice of slices) assert.deepEqual(slice, []);
  };
  const lists = Array.from({ length: 20 }, (_, n) => list("noisy", `${n % 3}`));
  while (reading.length < 2) await setImmediate();
  lists.push(list("quiet", "a"));
  while (!reading.some(({ organization }) => organization === "quiet")) await setImmediate();
  let reads = 0;
  const isDone = Promise.all(lists).then(() => true);
  for (;;) {
    const noisy = reading.filter(({ organization }) => organization === "noisy");
    assert.ok(noisy.length <= 2, `${noisy.length}`);
    reads += reading.length > 0 ? 1 : 0;
    reading.at(0)?.end();
    if (await Promise.race([isDone, setImmediate(false)])) break;
  }
  assert.equal(reads, 21 * 4); // the names, and three slices
});
