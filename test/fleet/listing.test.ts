import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { inSlices, instanceAt, listing, LONG_LIST } from "../../src/fleet/listing.ts";
import type { StoredRuntime } from "../../src/fleet/store.ts";
import { StreamReply } from "../../src/http/reply.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

function runtimes(count: number): StoredRuntime[] {
  return Array.from({ length: count }, (_, i) => ({ name: `runtime-${i}`, last_seen: NOW - i }));
}

async function streamOf(
  slices: AsyncIterable<readonly StoredRuntime[]>,
  total?: number,
): Promise<StreamReply> {
  const answer = await listing(slices, { now: NOW }, total);
  assert.ok(answer instanceof StreamReply);
  return answer;
}

test("a runtime is shown with the time it was seen and the status that follows from it", () => {
  const runtime = { name: "a", os: "linux", last_seen: NOW - 15 * 60_000 };
  assert.deepEqual(JSON.parse(JSON.stringify(instanceAt(runtime, { now: NOW }))), {
    name: "a",
    os: "linux",
    last_seen: "2026-11-20T20:15:00.000Z",
    status: "idle",
  });
});

test("an empty fleet is an empty list", async () => {
  assert.deepEqual(JSON.parse(JSON.stringify(await listing(inSlices([]), { now: NOW }))), {
    runtimes: [],
  });
});

test("a short list is answered as a value", async () => {
  const answer = await listing(inSlices(runtimes(LONG_LIST)), { now: NOW }, 7);
  assert.ok("runtimes" in answer);
  assert.deepEqual([answer.runtimes.length, answer.total], [LONG_LIST, 7]);
});

test("a long list is streamed, and is the same JSON", async () => {
  const rows = runtimes(LONG_LIST + 1);
  const output = new PassThrough();
  const answer = await streamOf(inSlices(rows));
  const written = answer.start(output, new AbortController().signal).then(() => output.end());
  const body = JSON.parse(await text(output)) as unknown;
  await written;
  const expected = { runtimes: rows.map((row) => instanceAt(row, { now: NOW })) };
  assert.deepEqual(body, JSON.parse(JSON.stringify(expected)));
  assert.equal(answer.contentType, "application/json; charset=utf-8");
});

test("the total is sent after a long list", async () => {
  const output = new PassThrough();
  const answer = await streamOf(inSlices(runtimes(1_500)), 3);
  const written = answer.start(output, new AbortController().signal).then(() => output.end());
  const body = JSON.parse(await text(output)) as { runtimes: unknown[]; total: number };
  await written;
  assert.deepEqual([body.runtimes.length, body.total], [1_500, 3]);
});

test("other requests run between slices, even if the output drains at once", async () => {
  let others = 0;
  const next = (): void => {
    others++;
    turns = setImmediate(next);
  };
  let turns = setImmediate(next);
  const output = new Writable({ highWaterMark: 1, write: (_piece, _encoding, done) => done() });
  await (await streamOf(inSlices(runtimes(50_000)))).start(output, new AbortController().signal);
  clearImmediate(turns);
  assert.ok(others >= 10, String(others));
});

test("the list waits for a stalled reader without buffering", async () => {
  let taken = 0;
  async function* rows() {
    for await (const slice of inSlices(runtimes(20_000))) {
      taken += slice.length;
      yield slice;
    }
  }
  const output = new PassThrough({ highWaterMark: 1 }); // the default differs between versions
  const gone = new AbortController();
  const written = (await streamOf(rows())).start(output, gone.signal);
  for (let i = 0; i < 20; i++) await nextTurn();
  assert.equal(taken, 750, "as many as show that the list is long");
  gone.abort();
  await assert.rejects(written, { name: "AbortError" });
});

test("no further slices are made for a disconnected reader", async () => {
  const output = new PassThrough();
  const gone = new AbortController();
  gone.abort();
  const written = (await streamOf(inSlices(runtimes(5_000)))).start(output, gone.signal);
  await assert.rejects(written, { name: "AbortError" });
  assert.equal(output.readableLength, 0);
});

test("the slices of one list are made in each event loop turn, and of no other one", async () => {
  let turn = 0;
  const count = (): void => {
    turn++;
    turns = setImmediate(count);
  };
  let turns = setImmediate(count);
  const lists = new Map<number, Set<number>>(); // by turn
  const began = turn;
  async function* noted(list: number) {
    for await (const slice of inSlices(runtimes(15_000))) {
      lists.set(turn, (lists.get(turn) ?? new Set()).add(list));
      yield slice;
    }
  }
  const written = Array.from({ length: 8 }, async (_, list) => {
    const output = new Writable({ write: (_piece, _encoding, done) => done() });
    await (await streamOf(noted(list))).start(output, new AbortController().signal);
  });
  await Promise.all(written);
  clearImmediate(turns);
  lists.delete(began); // all begin in the turn of the call
  assert.ok(lists.size >= 8, `${lists.size}`);
  for (const [at, together] of lists) assert.equal(together.size, 1, `turn ${at}`);
});

test("the slices of a long list are closed where its answer is not sent, or not to its end", async () => {
  let open = 0;
  async function* counted(): AsyncGenerator<readonly StoredRuntime[]> {
    open++;
    try {
      yield* inSlices(runtimes(4 * LONG_LIST));
    } finally {
      open--;
    }
  }
  const unsent = await streamOf(counted());
  unsent.discard();
  await nextTurn();
  assert.equal(open, 0);
  const left = await streamOf(counted());
  const gone = AbortSignal.abort();
  await assert.rejects(left.start(new PassThrough(), gone));
  await nextTurn();
  assert.equal(open, 0);
});
