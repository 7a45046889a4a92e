import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ChunkBudget } from "../../src/http/chunk-budget.ts";

function taken(budget: ChunkBudget, isSmall: boolean): number {
  let count = 0;
  while (budget.take(isSmall)) count++;
  return count;
}

test("a turn of the event loop has 16,384 chunks of any size", async () => {
  const budget = new ChunkBudget(() => 0);
  assert.equal(taken(budget, false), 16_384);
  assert.equal(budget.take(true), false);
  await turn();
  assert.equal(taken(budget, true), 16_384);
});

test("65,536 small chunks come in a row, and each millisecond allows 32 more", async () => {
  let now = 1_000;
  const budget = new ChunkBudget(() => now);
  const takenInTurns = async (): Promise<number> => {
    let all = 0;
    for (;;) {
      await turn();
      const count = taken(budget, true);
      if (count === 0) return all;
      all += count;
    }
  };
  assert.equal(await takenInTurns(), 65_536);
  assert.equal(budget.take(false), true);
  now += 10;
  assert.equal(await takenInTurns(), 320);
  now += 60_000;
  assert.equal(await takenInTurns(), 65_536);
});
