import assert from "node:assert/strict";
import test from "node:test";
import { ownTurn, sliceAfter, Yielder } from "../../../src/core/scheduling/yielder.ts";

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

test("beside work that takes long in its turn, a slice is longer, up to two milliseconds", () => {
  assert.deepEqual([0, 0.4, 1.5, 80].map(sliceAfter), [0.5, 0.5, 1.5, 2]);
});

test("slices go round between the parties that wait", async () => {
  const order: string[] = [];
  const wait = async (name: string, ...party: readonly [string, ...string[]]): Promise<void> => {
    await ownTurn(party);
    order.push(name);
  };
  const greedy = [1, 2, 3, 4].map((n) => wait(`greedy ${n}`, "public", "acme", "192.0.2.1"));
  const others = [
    wait("address", "public", "acme", "192.0.2.2"),
    wait("prefix", "v1", "acme", "192.0.2.1"),
    ownTurn().then(() => void order.push("service")),
  ];
  await Promise.all([...greedy, ...others]);
  assert.deepEqual(order.slice(0, 4), ["greedy 1", "prefix", "service", "address"]);
  assert.deepEqual(order.slice(4), ["greedy 2", "greedy 3", "greedy 4"]);
});

test("work completes, and work without a waiting client is abandoned", async () => {
  assert.equal(await new Yielder().run(longWork(3, () => {})), 3);
  const gone = new AbortController();
  const work = new Yielder(gone.signal).run(longWork(3, () => {}));
  gone.abort(new Error("gone"));
  await assert.rejects(async () => work, /gone/);
});
