import assert from "node:assert/strict";
import { test } from "node:test";
import { STATUSES as KNOWN } from "../../src/fleet/schema.ts";
import { filterOf, fleetSearch, STATUSES } from "../../src/portal/fleet-query.ts";

const ALL = { q: undefined, status: undefined, policy_version: undefined, drifted: undefined };

test("an address asks for what it says, and what there is none of is passed over", () => {
  assert.deepEqual(filterOf({}), ALL);
  const asked = { q: "ci-7", status: "idle", policy: "v1", drifted: "true" };
  const wanted = { q: "ci-7", status: "idle", policy_version: "v1", drifted: "true" };
  assert.deepEqual(filterOf(asked), wanted);
  assert.deepEqual(filterOf({ status: "gone", drifted: "yes" }), ALL);
});

test("the page knows every status that there is", () => {
  assert.deepEqual(STATUSES, KNOWN);
});

test("a view is written into the address without what is empty", () => {
  assert.equal(fleetSearch({}), "");
  assert.equal(fleetSearch({ q: "", status: undefined }), "");
  assert.equal(fleetSearch({ q: "a&b", drifted: "true" }, 400), "?q=a%26b&drifted=true&limit=400");
});
