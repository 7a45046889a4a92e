import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuntimeInstance } from "../../src/fleet/schema.ts";
import { runtimesByPolicy } from "../../src/portal/drift.ts";
import { filteredRuntimes, fleetSearch, type FleetFilter } from "../../src/portal/fleet-filter.ts";

const last_seen = "2026-11-20T20:30:00.000Z";
const fleet: readonly RuntimeInstance[] = [
  { name: "Build-1", status: "online", last_seen, policy_version: "v2", os: "linux" },
  { name: "build-2", status: "idle", last_seen, policy_version: "v1", version: "2.3.1" },
  { name: "laptop", status: "offline", last_seen, policy_version: "v1", hostname: "ada.local" },
  { name: "silent", status: "online", last_seen },
];

function names(filter: FleetFilter): readonly string[] {
  return filteredRuntimes(fleet, filter, "v2").map(({ name }) => name);
}

test("a filter shows what fits all of its parts", () => {
  assert.deepEqual(names({}), ["Build-1", "build-2", "laptop", "silent"]);
  assert.deepEqual(names({ q: "BUILD" }), ["Build-1", "build-2"]);
  assert.deepEqual(names({ q: "ada.l" }), ["laptop"]);
  assert.deepEqual(names({ q: "2.3" }), ["build-2"]);
  assert.deepEqual(names({ status: "online" }), ["Build-1", "silent"]);
  assert.deepEqual(names({ policy: "v1" }), ["build-2", "laptop"]);
  assert.deepEqual(names({ drifted: "true" }), ["build-2"]);
  assert.deepEqual(names({ drifted: "yes", status: "", q: "" }), [
    "Build-1",
    "build-2",
    "laptop",
    "silent",
  ]);
  assert.deepEqual(names({ policy: "v1", status: "offline", q: "lap" }), ["laptop"]);
  assert.deepEqual(names({ status: "gone" }), []);
});

test("a view is written into the address without what is empty", () => {
  assert.equal(fleetSearch({}), "");
  assert.equal(fleetSearch({ q: "", status: undefined }), "");
  assert.equal(fleetSearch({ q: "a&b", drifted: "true" }, 400), "?q=a%26b&drifted=true&limit=400");
});

test("the runtimes of a version are those that are there and say that they run it", () => {
  assert.deepEqual(
    [...runtimesByPolicy(fleet)],
    [
      ["v2", 1],
      ["v1", 1],
    ],
  );
});
