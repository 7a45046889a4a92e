/** How streams share long events, and the turns of their reads. */
import assert from "node:assert/strict";
import { setMaxListeners } from "node:events";
import { test, type TestContext } from "node:test";
import type { Statements } from "../../../../src/storage/postgres/database.ts";
import { LongEvents } from "../../../../src/storage/postgres/audit/long-events.ts";
import { until } from "../../../http/serve.ts";

/** A table of long events that notes which rows are read. */
function open(t: TestContext) {
  const rows: number[] = [];
  const query = async (_: string, [, , row]: readonly unknown[] = []) => {
    rows.push(row as number);
    if (row === 0) throw new Error("The database is away");
    return [{ line: "x".repeat(1 << 20) }];
  };
  const events = new LongEvents(query as Statements["query"]);
  const left = new AbortController();
  setMaxListeners(0, left.signal); // of many streams
  t.after(() => left.abort());
  const read = (row: number, address = "127.0.0.1", signal = left.signal) =>
    events.read({ organization: "acme", days: [], row }, ["public", "acme", address], signal);
  return { rows, read, left };
}

async function someTurns(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
}

test("streams of one address read long events one after the other, each for a second at most", async (t) => {
  const { rows, read, left } = open(t);
  const streams = Array.from({ length: 20 }, (_, i) => read(i + 1));
  const firsts = streams.map((stream) => stream.next());
  await someTurns();
  assert.deepEqual(rows, [1], "the first has not taken its event");
  assert.equal((await firsts[0])?.value?.length, 1 << 20);
  assert.equal((await streams[0]?.next())?.done, true);
  await someTurns();
  assert.deepEqual(rows, [1, 2], "the second has not taken its event");
  await until(() => rows.length === 3);
  left.abort();
  const ends = await Promise.all(firsts.slice(4));
  assert.ok(ends.every(({ done }) => done));
  await someTurns();
  assert.equal(rows.length, 3);
});

test("streams of one address share the bytes of an event until the last has taken it", async (t) => {
  const { rows, read } = open(t);
  const streams = Array.from({ length: 20 }, () => read(1));
  const lines = await Promise.all(streams.map(async (stream) => (await stream.next()).value));
  assert.equal(new Set(lines).size, 1);
  const next = read(2).next();
  for (const stream of streams.slice(1)) await stream.next();
  await someTurns();
  assert.deepEqual(rows, [1]);
  await streams[0]?.return(undefined);
  await next;
  assert.deepEqual(rows, [1, 2]);
});

test("another address has a turn of its own", async (t) => {
  const { rows, read } = open(t);
  await read(1).next();
  await read(2, "127.0.0.2").next();
  assert.deepEqual(rows, [1, 2]);
});

test("a read that fails gives its turn to the next one", async (t) => {
  const { rows, read } = open(t);
  const failed = [read(0).next(), read(0).next()];
  for (const one of failed) await assert.rejects(one, /The database is away/);
  await read(1).next();
  assert.deepEqual(rows, [0, 1]);
});

test("a read ends with its last stream", async (t) => {
  const { rows, read } = open(t);
  await read(1).next();
  const leaving = [new AbortController(), new AbortController()];
  const waiting = leaving.map(({ signal }) => read(2, "127.0.0.1", signal).next());
  await someTurns();
  leaving[0]?.abort();
  await someTurns();
  const joined = read(2, "127.0.0.1", leaving[1]?.signal).next();
  leaving[1]?.abort();
  for (const one of [...waiting, joined]) assert.equal((await one).done, true);
  await someTurns();
  assert.deepEqual(rows, [1]);
});
