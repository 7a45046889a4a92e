/** Reads that share a query: which query a request gets, and how its requests go on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { CoalescedReads } from "../../../src/storage/postgres/coalesced.ts";

/** Reads whose queries end when `answer` is called. */
function open() {
  const queries: (readonly string[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const reads = new CoalescedReads<string>((keys) => {
    queries.push(keys);
    return new Promise((resolve, reject) => {
      ends.push((error) =>
        error ? reject(error) : resolve(new Map(keys.map((key) => [key, `${key}!`]))),
      );
    });
  });
  const answer = async (error?: Error): Promise<void> => {
    while (ends.length === 0) await turn();
    ends.shift()?.(error);
  };
  return { reads, queries, answer };
}

test("requests of one turn share a query, and later ones get the next, which begins after them", async () => {
  const { reads, queries, answer } = open();
  const first = Promise.all([reads.get("a"), reads.get("b"), reads.get("a")]);
  await turn();
  await turn();
  const later = reads.get("a");
  await answer();
  assert.deepEqual(await first, ["a!", "b!", "a!"]);
  await answer();
  assert.equal(await later, "a!");
  assert.deepEqual(queries, [["a", "b"], ["a"]]);
});

test("a query that fails fails all its requests, and the next one is asked", async () => {
  const { reads, answer } = open();
  const failed = Promise.allSettled([reads.get("a"), reads.get("b")]);
  await answer(new Error("gone"));
  assert.deepEqual(
    (await failed).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  const next = reads.get("a");
  await answer();
  assert.equal(await next, "a!");
});

test("the requests of a query go on key by key, and not all in one turn of the event loop", async () => {
  const { reads, answer } = open();
  const order: string[] = [];
  let turns = 0;
  const work = (key: string) => async (): Promise<void> => {
    await reads.get(key);
    order.push(key);
    const end = performance.now() + 0.05; // as long as a small answer takes
    while (performance.now() < end);
  };
  const all = Promise.all([...Array(200).fill(work("a")), work("b")].map((run) => run()));
  let isDone = false;
  void all.then(() => (isDone = true));
  await answer();
  for (; !isDone; turns++) await turn();
  assert.equal(order.indexOf("b"), 1);
  assert.ok(turns >= 10, `${turns} turns`);
});

test("requests of many keys without a value do not hold up one whose key has a value", async () => {
  const reads = new CoalescedReads<string>(async () => new Map([["key", "value"]]));
  const order: string[] = [];
  const ask = async (key: string): Promise<void> => {
    await reads.get(key);
    order.push(key);
  };
  const wrong = Array.from({ length: 400 }, (_, n) => ask(`wrong ${n}`));
  await Promise.all([...wrong, ask("key")]);
  assert.ok(order.indexOf("key") <= 1, `after ${order.indexOf("key")} others`);
});
