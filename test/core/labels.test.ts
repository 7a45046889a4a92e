import assert from "node:assert/strict";
import { test } from "node:test";
import { BadInput } from "../../src/core/errors.ts";
import {
  checkedLabels,
  hasLabels,
  labelOf,
  labelsIn,
  storedLabels,
} from "../../src/core/labels.ts";

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));

test("labels up to the limits are accepted, sorted by key", () => {
  const labels = checkedLabels(
    { b: "x".repeat(64), "a.b/c_d-e": "ü 😀", constructor: "1" },
    "labels",
  );
  assert.deepEqual(Object.keys(labels), ["a.b/c_d-e", "b", "constructor"]);
  assert.equal(Object.keys(checkedLabels(many(32), "labels")).length, 32);
  assert.doesNotThrow(() => checkedLabels({ ["k".repeat(64)]: "😀".repeat(64) }, "labels"));
});

for (const [name, labels, message] of [
  ["33 pairs", many(33), /^labels: expected at most 32$/],
  ["a long key", { ["k".repeat(65)]: "v" }, /^labels: expected keys of 1 to 64/],
  ["an empty key", { "": "v" }, /^labels: expected keys/],
  ["a key with a colon", { "a:b": "v" }, /^labels: expected keys/],
  ["the key __proto__", JSON.parse('{"__proto__": "v"}'), /^labels: expected keys/],
  ["an empty value", { env: "" }, /^labels\.env: expected 1 to 64 characters/],
  ["a long value", { env: "x".repeat(65) }, /^labels\.env: expected 1 to 64/],
  ["a value with a line break", { env: "a\nb" }, /without control characters/],
  ["half of a surrogate pair", { env: "\ud800" }, /without control characters/],
] as const) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => checkedLabels(labels as Record<string, string>, "labels"),
      (error) => {
        assert.ok(error instanceof BadInput);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test("a filter is a key and a value, which may have a colon", () => {
  assert.deepEqual(labelOf("env:a:b"), { env: "a:b" });
  for (const text of ["env", "env:", ":staging"]) assert.throws(() => labelOf(text), BadInput);
});

test("properties that every object has are no labels", () => {
  assert.equal(hasLabels({}, { constructor: "x" }), false);
  assert.equal(hasLabels(undefined, {}), true);
  assert.deepEqual(storedLabels({ a: "1", b: 2 }), { a: "1" });
  assert.equal(storedLabels([]), undefined);
});

test("a field takes several labels, whose values may have commas", () => {
  assert.deepEqual(labelsIn("env:staging, team:a:b"), ["env:staging", "team:a:b"]);
  assert.deepEqual(labelsIn("note:one, two,team:web"), ["note:one, two", "team:web"]);
  assert.deepEqual(labelsIn("env:staging, te"), ["env:staging, te"]);
  assert.deepEqual(labelsIn("env:"), []);
  assert.deepEqual(labelsIn(" env:a \n,\t team:b "), [" env:a", "team:b "]);
});

test("labels are found in much white space at once", () => {
  const start = process.cpuUsage();
  labelsIn(" ".repeat(100_000));
  const { user, system } = process.cpuUsage(start);
  // A pattern that takes the square of the length takes half a minute.
  assert.ok(user + system < 1_000_000, `${user + system} µs`);
});
