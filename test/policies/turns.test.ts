import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "../../src/policies/turns.ts";

/** Tasks that end when they are told to, and a record of those that began. */
function tasks(turns: Turns, count: number) {
  const begun: number[] = [];
  const ends: ((failed: boolean) => void)[] = [];
  const results = Array.from({ length: count }, (_, index) =>
    turns.run(() => {
      begun.push(index);
      return new Promise<number>((resolve, reject) => {
        ends[index] = (failed) => (failed ? reject(new Error("failed")) : resolve(index));
      });
    }),
  );
  return { begun, ends, results };
}

test("no more tasks run at a time than there are places, and the others follow in order", async () => {
  const { begun, ends, results } = tasks(new Turns(2, 5), 4);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(false);
  assert.equal(await results[1], 1);
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.(false);
  ends[2]?.(false);
  await results[2];
  ends[3]?.(false);
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3]);
});

test("a task that fails frees its place", async () => {
  const { begun, ends, results } = tasks(new Turns(1, 5), 2);
  ends[0]?.(true);
  await assert.rejects(results[0] as Promise<number>, /failed/);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(false);
  await results[1];
});

test("the line is full when as many wait as may, and open again when one has had its turn", async () => {
  const turns = new Turns(1, 1);
  assert.equal(turns.isFull, false);
  const { ends, results } = tasks(turns, 2);
  assert.equal(turns.isFull, true);
  ends[0]?.(false);
  await results[0];
  assert.equal(turns.isFull, false);
  ends[1]?.(false);
  await results[1];
});
