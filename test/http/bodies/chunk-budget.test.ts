import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ChunkBudget } from "../../../src/http/bodies/chunk-budget.ts";

/** The small chunks that a network may have until one is refused. */
async function takenBy(budget: ChunkBudget, network: string): Promise<number> {
  for (let all = 0; ; await turn()) {
    for (let n = 0; n < 8_192; n++) if (!budget.take(network)) return all + n;
    all += 8_192;
  }
}

test("a turn of the event loop has 16,384 chunks of any size", async () => {
  const budget = new ChunkBudget(() => 0);
  for (let n = 0; n < 16_384; n++) assert.equal(budget.take(n % 2 ? "a" : undefined), true);
  assert.equal(budget.take(), false);
  assert.equal(budget.take("b"), false);
  await turn();
  assert.equal(budget.take(), true);
  assert.equal(budget.take("b"), true);
});

test("a second has 32,768 small chunks, and more for a network that had fewer than 2,048", async () => {
  let now = 1_000;
  const budget = new ChunkBudget(() => now);
  assert.equal(await takenBy(budget, "greedy"), 32_768);
  assert.equal(budget.take("greedy"), false);
  assert.equal(budget.take(), true); // a larger chunk
  assert.equal(await takenBy(budget, "other"), 2_048);
  now += 1_000;
  await turn();
  assert.equal(await takenBy(budget, "other"), 32_768);
});
