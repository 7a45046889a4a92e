import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { instanceAt, listing, LONG_LIST, type ListingOptions } from "../../src/fleet/listing.ts";
import type { FleetRows, StoredRuntime } from "../../src/fleet/store.ts";
import { StreamReply } from "../../src/http/reply.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

function rowsOf(rows: readonly StoredRuntime[]): FleetRows {
  return {
    total: rows.length,
    slice: (from, to, fits) =>
      rows.slice(from, to).filter((row) => !fits || fits(row, row.last_seen)),
  };
}

function runtimes(count: number): StoredRuntime[] {
  return Array.from({ length: count }, (_, i) => ({ name: `runtime-${i}`, last_seen: NOW - i }));
}

function streamOf(rows: FleetRows, options?: ListingOptions): StreamReply {
  const answer = listing(rows, NOW, options);
  assert.ok(answer instanceof StreamReply);
  return answer;
}

test("a runtime is shown with the time it was seen and the status that follows from it", () => {
  const runtime = { name: "a", os: "linux", last_seen: NOW - 15 * 60_000 };
  assert.deepEqual(JSON.parse(JSON.stringify(instanceAt(runtime, NOW))), {
    name: "a",
    os: "linux",
    last_seen: "2026-11-20T20:15:00.000Z",
    status: "idle",
  });
});

test("an empty fleet is an empty list", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(listing(rowsOf([]), NOW))), { runtimes: [] });
});

test("a list that is not long is answered as a value", () => {
  const answer = listing(rowsOf(runtimes(LONG_LIST)), NOW);
  assert.ok("runtimes" in answer);
  assert.equal(answer.runtimes.length, LONG_LIST);
});

test("a long list is streamed, and is the same JSON", async () => {
  const rows = runtimes(LONG_LIST + 1);
  const output = new PassThrough();
  const answer = streamOf(rowsOf(rows));
  const written = answer.start(output, new AbortController().signal).then(() => output.end());
  const body = JSON.parse(await text(output)) as unknown;
  await written;
  const expected = { runtimes: rows.map((row) => instanceAt(row, NOW)) };
  assert.deepEqual(body, JSON.parse(JSON.stringify(expected)));
  assert.equal(answer.contentType, "application/json; charset=utf-8");
});

test("a long list whose runtimes were all forgotten meanwhile is still JSON", async () => {
  const output = new PassThrough();
  const answer = streamOf({ total: LONG_LIST + 1, slice: () => [] });
  await answer.start(output, new AbortController().signal);
  output.end();
  assert.equal(await text(output), '{"runtimes":[]}');
});

test("those that do not fit are left out of a list of any length, and the total is said", async () => {
  const fits = (_: unknown, lastSeen: number): boolean => (NOW - lastSeen) % 700 === 0;
  const short = listing(rowsOf(runtimes(LONG_LIST)), NOW, { fits, total: 7 });
  assert.ok("runtimes" in short);
  assert.deepEqual([short.runtimes.map(({ name }) => name), short.total], [["runtime-0"], 7]);
  const output = new PassThrough();
  const long = streamOf(rowsOf(runtimes(1_500)), { fits, total: 3 });
  await long.start(output, new AbortController().signal);
  output.end();
  const body = JSON.parse(await text(output)) as { runtimes: { name: string }[]; total: number };
  const names = body.runtimes.map(({ name }) => name);
  assert.deepEqual([names, body.total], [["runtime-0", "runtime-700", "runtime-1400"], 3]);
});

test("others have a turn between slices, also where the output drains at once", async () => {
  let others = 0;
  const next = (): void => {
    others++;
    turns = setImmediate(next);
  };
  let turns = setImmediate(next);
  const output = new Writable({ highWaterMark: 1, write: (_piece, _encoding, done) => done() });
  await streamOf(rowsOf(runtimes(2_500))).start(output, new AbortController().signal);
  clearImmediate(turns);
  assert.ok(others >= 10, String(others));
});

test("a reader that takes nothing is waited for, not buffered for", async () => {
  let taken = 0;
  const all = rowsOf(runtimes(20_000));
  const rows: FleetRows = {
    total: all.total,
    slice(from, to) {
      taken += to - from;
      return all.slice(from, to);
    },
  };
  const output = new PassThrough({ highWaterMark: 1 }); // the default differs between versions
  const gone = new AbortController();
  const written = streamOf(rows).start(output, gone.signal);
  for (let i = 0; i < 20; i++) await nextTurn();
  assert.equal(taken, 250);
  gone.abort();
  await written;
});

test("nothing more is made for a reader that has gone", async () => {
  const output = new PassThrough();
  const gone = new AbortController();
  gone.abort();
  await streamOf(rowsOf(runtimes(5_000))).start(output, gone.signal);
  assert.equal(output.readableLength, 0);
});

test("however many lists are sent, one slice of them is made in a turn of the loop", async () => {
  let turn = 0;
  const count = (): void => {
    turn++;
    turns = setImmediate(count);
  };
  let turns = setImmediate(count);
  const slices: number[] = [];
  const all = rowsOf(runtimes(1_500));
  const noted: FleetRows = {
    total: all.total,
    slice(from, to) {
      if (from > 0) slices.push(turn); // the first one begins where it is asked for
      return all.slice(from, to);
    },
  };
  const lists = Array.from({ length: 8 }, () => {
    const output = new Writable({ write: (_piece, _encoding, done) => done() });
    return streamOf(noted).start(output, new AbortController().signal);
  });
  await Promise.all(lists);
  clearImmediate(turns);
  assert.equal(slices.length, 8 * 5);
  assert.equal(new Set(slices).size, slices.length);
});
