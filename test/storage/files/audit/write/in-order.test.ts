import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { InOrder } from "../../../../../src/storage/files/audit/write/in-order.ts";

/** Keeps the thread busy for a millisecond. */
function work(): void {
  for (const start = performance.now(); performance.now() - start < 1;);
}

test("steps of one turn run at once until their slice is used up, and the others in later turns", async () => {
  const steps = new InOrder();
  const done: number[] = [];
  const numbers = Array.from({ length: 40 }, (_, number) => number);
  for (const number of numbers) {
    steps.do(() => {
      work();
      done.push(number);
    });
  }
  assert.ok(done.length > 0 && done.length < 20, `${done.length} in one turn`);
  await turn();
  assert.ok(done.length < 40, `${done.length} in two turns`);
  await steps.idle();
  assert.deepEqual(done, numbers);
});

test("a step that is added behind long work waits for its end", async () => {
  const steps = new InOrder();
  const done: string[] = [];
  steps.do(function* () {
    for (let part = 0; part < 10; part++) {
      work();
      yield;
    }
    done.push("long");
  });
  steps.do(() => void done.push("short"));
  assert.deepEqual(done, []);
  await steps.idle();
  assert.deepEqual(done, ["long", "short"]);
});

test("a step that fails does not stop those behind it", async () => {
  const steps = new InOrder();
  const done: number[] = [];
  assert.throws(() =>
    steps.do(() => {
      throw new Error("a defect");
    }),
  );
  steps.do(() => void done.push(1));
  await steps.idle(); // a slow machine may have used up the slice
  assert.deepEqual(done, [1]);
});
