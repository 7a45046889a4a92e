import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import {
  canonicalTime,
  timeOf,
} from "../../../../../src/storage/files/audit/index/canonical-time.ts";

const read = (text: string): number => canonicalTime(Buffer.from(`, "${text}",`), 3);

test("every moment of the years 0 to 9999 is read back as it was written", () => {
  const [min, max] = [
    Date.parse("0000-01-01T00:00:00.000Z"),
    Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  ];
  fc.assert(
    fc.property(fc.integer({ min, max }), (ms) => {
      assert.equal(read(new Date(ms).toISOString()), ms);
    }),
    { numRuns: 2_000 },
  );
  for (const text of ["2024-02-29T00:00:00.000Z", "2000-03-01T00:00:00.000Z"]) {
    assert.equal(read(text), Date.parse(text));
  }
});

test("a text of another form, or of an impossible moment, has no canonical time", () => {
  const texts = [
    "",
    "2026-01-31T12:00:00Z",
    "2026-02-29T12:00:00.000Z",
    "2100-02-29T12:00:00.000Z",
    "2026-04-31T12:00:00.000Z",
    "2026-01-00T12:00:00.000Z",
    "2026-13-01T12:00:00.000Z",
    "2026-01-01T24:00:00.000Z",
    "2026-01-0xT12:00:00.000Z",
    "2026-01-01T12:00:00.0 0Z",
  ];
  for (const text of texts) assert.ok(Number.isNaN(read(text)), text);
  assert.equal(timeOf("1970-01-01T01:00:00+01:00"), 0);
  assert.equal(timeOf("1970-01-01T00:00:01Z"), 1_000);
});

test("a timestamp with any character changed is read like Date reads it, or not at all", () => {
  const start = Date.parse("2026-02-28T23:59:00.000Z");
  const near = fc.record({
    ms: fc.integer({ min: start, max: start + 120_000 }),
    at: fc.nat({ max: 23 }),
    put: fc.constantFrom(undefined, "6", "9", ":", "x", "-", "Z", "\0"),
  });
  fc.assert(
    fc.property(near, ({ ms, at, put }) => {
      const letters = [...new Date(ms).toISOString()];
      if (put !== undefined) letters[at] = put;
      const text = letters.join("");
      const time = Date.parse(text);
      const isCanonical = !Number.isNaN(time) && new Date(time).toISOString() === text;
      assert.equal(canonicalTime(Buffer.from(text), 0), isCanonical ? time : Number.NaN);
    }),
    { numRuns: 2_000 },
  );
});
