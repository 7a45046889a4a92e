import assert from "node:assert/strict";
import test from "node:test";
import { Yielder } from "../../src/core/yielder.ts";

/** Work that uses up a slice in each part, and records the event loop turn of each. */
function* longWork(parts: number, note: () => void): Generator<undefined, number> {
  for (let part = 0; part < parts; part++) {
    note();
    for (const yielder = new Yielder(); !yielder.isDue;);
    yield;
  }
  return parts;
}

test("of all simultaneous work, one slice runs in an event loop turn", async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[] = [];
  const works = [3, 4, 5].map(async (parts) =>
    new Yielder().run(longWork(parts, () => turns.push(turn))),
  );
  assert.deepEqual(await Promise.all(works), [3, 4, 5]);
  isOver = true;
  const later = turns.slice(works.length); // each begins in the turn of its call
  assert.equal(later.length, 9);
  assert.equal(new Set(later).size, 9);
});

test("work completes, and work without a waiting client is abandoned", async () => {
  assert.equal(await new Yielder().run(longWork(3, () => {})), 3);
  const gone = new AbortController();
  const work = new Yielder(gone.signal).run(longWork(3, () => {}));
  gone.abort(new Error("gone"));
  await assert.rejects(async () => work, /gone/);
});
