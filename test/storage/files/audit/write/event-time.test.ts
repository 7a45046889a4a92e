import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { timeOf } from "../../../../../src/storage/files/audit/write/lines.ts";

test("every moment of the years 0 to 9999 is read back as it was written", () => {
  const [min, max] = [
    Date.parse("0000-01-01T00:00:00.000Z"),
    Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  ];
  fc.assert(
    fc.property(fc.integer({ min, max }), (ms) => {
      assert.equal(timeOf(new Date(ms).toISOString()), ms);
    }),
    { numRuns: 2_000 },
  );
});

test("a timestamp of another form is read, and another text has no time", () => {
  assert.equal(timeOf("1970-01-01T01:00:00+01:00"), 0);
  assert.equal(timeOf("1970-01-01T00:00:01Z"), 1_000);
  assert.equal(timeOf("2024-02-29T00:00:00.000Z"), Date.parse("2024-02-29T00:00:00.000Z"));
  for (const text of ["", "2026-02-29T12:00:00.000Z", "2026-01-01T24:00:00.000Z", "x"]) {
    assert.equal(timeOf(text), undefined, text);
  }
});
