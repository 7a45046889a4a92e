import assert from "node:assert/strict";
import { test } from "node:test";
import { fleetOrder, FLEET_SORTS } from "../../src/fleet/order.ts";
import { inSlices } from "../../src/fleet/listing.ts";
import { sortedPage } from "../../src/fleet/sorting.ts";
import type { StoredRuntime } from "../../src/fleet/store.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");
const CONTEXT = { now: NOW, assignedTo: () => "v2" };
const ago = (minutes: number): number => NOW - minutes * 60_000;

const RUNTIMES: readonly StoredRuntime[] = [
  { name: "build-10", last_seen: ago(0), policy_version: "v2", os: "linux" },
  { name: "build-2", last_seen: ago(1), policy_version: "v1" },
  { name: "probe", last_seen: ago(20), version: "2.0" },
  { name: "laptop", last_seen: ago(2 * 24 * 60), policy_version: "v1", os: "darwin" },
];

for (const [sort, names] of [
  ["name", ["build-2", "build-10", "laptop", "probe"]],
  ["-name", ["probe", "laptop", "build-10", "build-2"]],
  ["status", ["build-10", "build-2", "probe", "laptop"]],
  ["-seen", ["laptop", "probe", "build-2", "build-10"]],
  ["policy", ["build-2", "laptop", "build-10", "probe"]],
  ["system", ["laptop", "build-10", "build-2", "probe"]],
  ["version", ["probe", "build-10", "build-2", "laptop"]],
  // The laptop is offline, so that it is not expected to have fetched anything.
  ["drifted", ["build-2", "build-10", "probe", "laptop"]],
] as const) {
  test(`the fleet sorted by ${sort}`, async () => {
    const { runtimes, total } = await sortedPage(
      inSlices(RUNTIMES),
      fleetOrder(sort, CONTEXT),
      ...([10, 0] as const),
    );
    assert.deepEqual([runtimes.map(({ name }) => name), total], [names, 4]);
  });
}

test("every page of a large fleet is the same part of the whole fleet in order", async () => {
  const all = Array.from({ length: 3_000 }, (_, i) => ({
    ...{ name: `build-${(i * 7919) % 3_000}`, last_seen: ago(i), os: ["b", "", "a"][i % 3] ?? "" },
    policy_version: `v${i % 5}`,
  }));
  for (const sort of FLEET_SORTS) {
    const order = fleetOrder(sort, CONTEXT);
    const sorted = all.toSorted(order);
    for (const [limit, offset] of [
      [200, 0],
      [7, 1_234],
      [3_000, 2_999],
      [1, 0],
    ] as const) {
      const page = await sortedPage(inSlices(all), order, limit, offset);
      const expected = sorted.slice(offset, offset + limit);
      assert.deepEqual(page.runtimes, expected, `${sort} ${limit} ${offset}`);
      assert.equal(page.total, 3_000);
    }
  }
});

test("a search ends when its reader leaves", async () => {
  const left = AbortSignal.abort(new Error("left"));
  const page = sortedPage(inSlices(RUNTIMES), fleetOrder("name", CONTEXT), 1, 0, left);
  await assert.rejects(page, /left/);
});

test("sorting by drift asks once for each runtime's assigned version", async () => {
  const all = Array.from({ length: 500 }, (_, i) => ({
    ...{ name: `build-${i}`, last_seen: ago(0), policy_version: `v${(i * 7) % 3}` },
  }));
  let asked = 0;
  const assignedTo = (): string => {
    asked++;
    return "v2";
  };
  const { total } = await sortedPage(
    inSlices(all),
    fleetOrder("drifted", { now: NOW, assignedTo }),
    ...([50, 0] as const),
  );
  assert.deepEqual([total, asked], [500, 500]);
});
