import assert from "node:assert/strict";
import test from "node:test";
import { lowerBound, sortedByKey } from "../../../../../src/storage/files/audit/index/sorting.ts";

test("numbers are sorted by key, and equal keys by number, for any range of keys", () => {
  for (const keys of [
    [7, 0xffffffff, 0, 7, 3],
    [],
    [5],
    [-62_167_219_200_000, 253_402_300_799_999, -1, 253_402_300_799_999],
    Array.from({ length: 100 }, (_, i) => (i % 7) * 2 ** 46), // key and number exceed 53 bits
  ]) {
    const expected = [...keys.keys()].sort(
      (a, b) => (keys[a] as number) - (keys[b] as number) || a - b,
    );
    const sorted = sortedByKey(10, 10 + keys.length, (number) => keys[number - 10] as number);
    assert.deepEqual(
      [...sorted],
      expected.map((i) => i + 10),
    );
  }
});

test("the lower bound is the first place of a number, or where it would be", () => {
  const list = Uint32Array.of(1, 3, 3, 8);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 8, 9].map((value) => lowerBound(list, value)),
    [0, 0, 1, 1, 3, 3, 4],
  );
});
