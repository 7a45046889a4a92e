import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuntimeInstance } from "../../../src/fleet/schema.ts";
import { fleetOrder } from "../../../src/portal/pages/fleet-order.ts";

const at = (minute: number): string => `2026-11-20T20:${String(minute).padStart(2, "0")}:00.000Z`;
const RUNTIMES: readonly RuntimeInstance[] = [
  { name: "build-10", status: "online", last_seen: at(30), policy_version: "v2", os: "linux" },
  { name: "build-2", status: "online", last_seen: at(29), policy_version: "v1" },
  { name: "laptop", status: "offline", last_seen: at(1), policy_version: "v1", os: "darwin" },
  { name: "probe", status: "idle", last_seen: at(10), version: "2.0" },
];

function namesBy(sort: string): readonly string[] | undefined {
  const order = fleetOrder(sort);
  return order && RUNTIMES.toSorted(order("v2")).map(({ name }) => name);
}

for (const [sort, names] of [
  ["name", ["build-2", "build-10", "laptop", "probe"]],
  ["-name", ["probe", "laptop", "build-10", "build-2"]],
  ["status", ["build-10", "build-2", "probe", "laptop"]],
  ["-seen", ["laptop", "probe", "build-2", "build-10"]],
  ["policy", ["build-2", "laptop", "build-10", "probe"]],
  ["system", ["laptop", "build-10", "build-2", "probe"]],
  ["version", ["probe", "build-10", "build-2", "laptop"]],
  // The laptop is offline, so that it is not expected to have fetched anything.
  ["drifted", ["build-2", "build-10", "laptop", "probe"]],
] as const) {
  test(`the fleet sorted by ${sort}`, () => assert.deepEqual(namesBy(sort), names));
}

test("another text sorts nothing", () => {
  for (const sort of ["", "-", "host", "__proto__", "--name"])
    assert.equal(fleetOrder(sort), undefined);
});
