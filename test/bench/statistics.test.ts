import assert from "node:assert/strict";
import { test } from "node:test";
import { zipf } from "../../bench/random.ts";
import { createRandom } from "../../src/demo/random.ts";
import { median, quantile, ratioSpread } from "../../bench/statistics.ts";

test("a median is the middle number, or the mean of the two middle ones", () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(median([4, 1, 3, 2]), 2.5);
});

test("a quantile is one of the values, and the last one is the maximum", () => {
  const numbers = Array.from({ length: 100 }, (_, i) => 100 - i);
  assert.equal(quantile(numbers, 0.5), 50);
  assert.equal(quantile(numbers, 0.99), 99);
  assert.equal(quantile(numbers, 1), 100);
});

test("ratios are taken within each round", () => {
  assert.deepEqual(ratioSpread([10, 40, 90], [10, 20, 30]), { median: 2, least: 1, greatest: 3 });
});

test("Zipf's law gives the second half as much as the first, and reaches the last", () => {
  const pick = zipf(400, createRandom(1));
  const counts = new Array<number>(400).fill(0);
  for (let i = 0; i < 400_000; i++) {
    const index = pick();
    counts[index] = (counts[index] ?? 0) + 1;
  }
  const [first = 0, second = 0] = counts;
  assert.ok(Math.abs(second / first - 0.5) < 0.03, `${first}, ${second}`);
  assert.ok((counts.at(-1) ?? 0) > 0);
});
