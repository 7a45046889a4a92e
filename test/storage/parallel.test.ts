import assert from "node:assert/strict";
import { test } from "node:test";
import { inParallel } from "../../src/storage/parallel.ts";

test("every item is done once, never more than 64 at a time", async () => {
  const items = Array.from({ length: 1_000 }, (_, index) => index);
  const done: number[] = [];
  let underWay = 0;
  let most = 0;
  await inParallel(items, async (item) => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
    done.push(item);
  });
  assert.deepEqual(
    done.sort((a, b) => a - b),
    items,
  );
  assert.equal(most, 64);
});

test("a failure is reported", async () => {
  const work = async (item: number) => {
    if (item === 2) throw new Error("two");
  };
  await assert.rejects(inParallel([1, 2, 3], work), /two/);
});
