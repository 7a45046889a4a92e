import assert from "node:assert/strict";
import { test } from "node:test";
import { fitting } from "../../src/fleet/filter.ts";
import type { FleetFilter } from "../../src/fleet/store.ts";
import { IDLE_MS, ONLINE_MS } from "../../src/fleet/status.ts";
import type { StoredRuntime } from "../../src/fleet/store.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

const fleet: readonly StoredRuntime[] = [
  {
    ...{ name: "Build-1", last_seen: NOW, policy_version: "v2", os: "linux" },
    labels: { env: "staging", team: "web" },
  },
  { name: "build-2", last_seen: NOW - ONLINE_MS, policy_version: "v1", version: "2.3.1" },
  { name: "laptop", last_seen: NOW - IDLE_MS, policy_version: "v1", hostname: "ada.local" },
  { name: "silent", last_seen: NOW + 1 },
];

function names(filter: FleetFilter, active = "v2"): readonly string[] {
  const fits = fitting({ ...filter, active, now: NOW });
  assert.ok(fits);
  return fleet.filter((row) => fits(row, row.last_seen)).map(({ name }) => name);
}

test("a runtime matches if it matches every part of a filter", () => {
  assert.deepEqual(names({ q: "BUILD" }), ["Build-1", "build-2"]);
  assert.deepEqual(names({ q: "ada.l" }), ["laptop"]);
  assert.deepEqual(names({ q: "2.3" }), ["build-2"]);
  assert.deepEqual(names({ q: "LINUX" }), ["Build-1"]);
  assert.deepEqual(names({ q: "v1" }), ["build-2", "laptop"]);
  assert.deepEqual(names({ q: "undefined" }), []);
  assert.deepEqual(names({ status: "online" }), ["Build-1", "silent"]);
  assert.deepEqual(names({ status: "idle" }), ["build-2"]);
  assert.deepEqual(names({ status: "offline" }), ["laptop"]);
  assert.deepEqual(names({ policy_version: "v1" }), ["build-2", "laptop"]);
  assert.deepEqual(names({ policy_version: "v" }), []);
  assert.deepEqual(names({ policy_version: "v1", status: "offline", q: "lap" }), ["laptop"]);
});

test("drifted runtimes are not offline and report another version than the active one", () => {
  assert.deepEqual(names({ drifted: "true" }), ["build-2"]);
  assert.deepEqual(names({ drifted: "false" }), ["Build-1", "laptop", "silent"]);
  assert.deepEqual(names({ drifted: "true" }, ""), []);
  assert.deepEqual(names({ drifted: "true" }, "v1"), ["Build-1"]);
});

test("a runtime must have every label of a filter", () => {
  assert.deepEqual(names({ label: ["env:staging"] }), ["Build-1"]);
  assert.deepEqual(names({ label: ["team:web", "env:staging"] }), ["Build-1"]);
  assert.deepEqual(names({ label: ["team:web", "env:production"] }), []);
  assert.throws(() => names({ label: ["env:staging", "team"] }), /label: expected key:value/);
});

test("a filter that matches all runtimes makes no test", () => {
  assert.equal(fitting({ active: "v2", now: NOW }), undefined);
  assert.equal(fitting({ q: "", policy_version: "", active: "v2", now: NOW }), undefined);
});
