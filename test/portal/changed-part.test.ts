import assert from "node:assert/strict";
import { test } from "node:test";
import { changedPart } from "../../src/portal/changed-part.ts";

/** The changed parts of both lines. */
function parts(left: string, right: string): readonly string[] | undefined {
  const found = changedPart(left, right);
  return found && [left, right].map((line) => line.slice(found.before, line.length - found.after));
}

test("the words between the common beginning and the common end are the changed part", () => {
  assert.deepEqual(parts("- prefix: git push", "- prefix: git pull"), ["push", "pull"]);
  assert.deepEqual(parts("a b c", "a c"), ["b ", ""]);
  assert.deepEqual(parts("name: x", "name: x y"), ["", " y"]);
});

test("a word that occurs at both ends is counted once", () => {
  assert.deepEqual(parts("a a", "a"), [" a", ""]);
});

test("a pair of surrogates is not split", () => {
  assert.deepEqual(parts("id: \u{1f600}", "id: \u{1f601}"), ["\u{1f600}", "\u{1f601}"]);
});

test("lines that share only their indent have no changed part, and neither have very long ones", () => {
  assert.equal(parts("  deny", "  allow"), undefined);
  assert.equal(parts(`a ${"x".repeat(2_000)}`, "a y"), undefined);
});
