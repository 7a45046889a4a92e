import assert from "node:assert/strict";
import { test } from "node:test";
import { nextVersion } from "../../../src/portal/browser/next-version.ts";

test("the next name has the next number that no version has", () => {
  assert.equal(nextVersion("v7", ["v7", "v6"]), "v8");
  assert.equal(nextVersion("v5", ["v7", "v6", "v5"]), "v8");
  assert.equal(nextVersion("2026-11-20.9", ["2026-11-20.9"]), "2026-11-20.10");
  assert.equal(nextVersion("release-007", []), "release-008");
  assert.equal(nextVersion("12", []), "13");
});

test("the first version is v1", () => {
  assert.equal(nextVersion(undefined, []), "v1");
  assert.equal(nextVersion(undefined, ["v1"]), undefined); // stored, and never activated
});

test("no name follows one without a number at its end", () => {
  for (const name of ["", "stable", "20261120T203000Z"]) {
    assert.equal(nextVersion(name, []), undefined);
  }
});
