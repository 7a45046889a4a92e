/** How lists of runtimes share the connections. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { FleetReports } from "../../../src/storage/postgres/fleet-reports.ts";
import { fleetOver } from "../../../src/storage/postgres/fleet.ts";
import { plainSession } from "../../../src/storage/postgres/session.ts";
import { silent } from "../../support/silent-log.ts";

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
  const fleet = fleetOver(database, plainSession(database), new FleetReports(database), silent);
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

test("a long page is read in slices, and a short one at once", async () => {
  const asked: (readonly unknown[])[] = [];
  const texts = { name: "a", hostname: null, os: null, version: null, policy_version: null };
  const row = { ...texts, labels: null, last_seen: 0 };
  const search = (text: string, values: readonly unknown[]): Promise<readonly object[]> => {
    if (text.includes("count(*)")) return Promise.resolve([{ total: 3_000 }]);
    asked.push(["search", ...values.slice(1)]);
    const slices = [1, 2].map((n) => ({ names: `{${n}}`, seen: `{${n}}` }));
    return Promise.resolve(text.includes("array_agg") ? slices : [row]);
  };
  const query = (_: string, [, names]: readonly unknown[]): Promise<readonly object[]> => {
    asked.push(["slice", names]);
    return Promise.resolve([row]);
  };
  const database = { query, search } as unknown as Database;
  const fleet = fleetOver(database, plainSession(database), new FleetReports(database), silent);
  const pageOf = (limit: number) => fleet.page("acme", { now: 0, active: "" }, limit, 7);
  assert.equal((await pageOf(500)).runtimes.length, 1);
  assert.deepEqual(asked.splice(0), [["search", 500, 7]]);
  const { runtimes, total } = await pageOf(1_000);
  assert.deepEqual([runtimes.length, total], [2, 3_000]);
  assert.deepEqual(asked, [
    ["search", 1_000, 7],
    ["slice", "{1}"],
    ["slice", "{2}"],
  ]);
});
