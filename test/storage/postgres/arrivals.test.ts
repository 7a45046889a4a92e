/** How streams share the database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { Arrivals } from "../../../src/storage/postgres/audit/arrivals.ts";

const START = { row: 0, mark: undefined };
/** The statement that looks whether the database still has the events of some rows. */
const LOOK = "left(e.line";

/** Streams over a database whose reads end when `end` is called. */
function open(head?: { organization_id: string; last_seq: number }) {
  const reading: { organization: string; asked: string; end: () => void }[] = [];
  const database = {
    query: (text: string, [organization, ...values]: readonly unknown[]) =>
      text.includes(LOOK)
        ? Promise.resolve([{ last: 1 }])
        : typeof organization !== "string"
          ? Promise.resolve(head ? [head] : [])
          : new Promise((resolve) => {
              const read = {
                organization,
                asked: JSON.stringify(values),
                end: () => {
                  reading.splice(reading.indexOf(read), 1);
                  resolve([]);
                },
              };
              reading.push(read);
            }),
  } as unknown as Database;
  const arrivals = new Arrivals(database);
  const leaving = new AbortController();
  const follow = async (
    organization: string,
    q: string,
    signal: AbortSignal,
    surface = "public",
  ): Promise<void> => {
    const tail = arrivals.tail(organization, { q }, START, [surface, organization]);
    for await (const [arrival] of tail.arrivals(signal)) assert.fail(String(arrival?.json));
  };
  const organizations = (): readonly string[] => reading.map(({ organization }) => organization);
  return { arrivals, reading, organizations, follow, leaving };
}

test("the streams of one organization read one after another, beside those of others", async () => {
  const { arrivals, reading, organizations, follow, leaving } = open();
  const noisy = Array.from({ length: 20 }, (_, n) => follow("noisy", `${n}`, leaving.signal));
  arrivals.grown("noisy", 1);
  await setImmediate();
  assert.deepEqual(organizations(), ["noisy"]);
  const quiet = follow("quiet", "a", leaving.signal);
  arrivals.grown("quiet", 1);
  await setImmediate();
  assert.deepEqual(organizations(), ["noisy", "quiet"]);
  let reads = 0;
  for (; reading.length > 0; reads++) {
    assert.ok(organizations().filter((name) => name === "noisy").length <= 1);
    reading.at(0)?.end();
    await setImmediate();
  }
  assert.ok(reads >= 21, `${reads} reads`);
  leaving.abort();
  await Promise.all([...noisy, quiet]);
});

test("the streams of an organization's users do not wait for all anonymous ones", async () => {
  const { arrivals, reading, follow, leaving } = open();
  const noisy = Array.from({ length: 20 }, (_, n) => follow("acme", `${n}`, leaving.signal));
  arrivals.grown("acme", 1);
  await setImmediate();
  const own = follow("acme", "own", leaving.signal, "v1");
  await setImmediate();
  let reads = 0;
  for (; !reading.some(({ asked }) => asked.includes("own")); reads++) {
    assert.equal(reading.length, 1);
    reading.at(0)?.end();
    await setImmediate();
  }
  assert.ok(reads < 6, `${reads} reads`); // each stream reads twice
  leaving.abort();
  for (; reading.length > 0; await setImmediate()) reading.at(0)?.end();
  await Promise.all([...noisy, own]);
});

test("a read that waits ends with its streams", async () => {
  const { arrivals, reading, organizations, follow, leaving } = open();
  const staying = new AbortController();
  const first = follow("noisy", "first", staying.signal);
  arrivals.grown("noisy", 1);
  await setImmediate();
  const left = Array.from({ length: 20 }, (_, n) => follow("noisy", `${n}`, leaving.signal));
  const last = follow("noisy", "last", staying.signal);
  await setImmediate();
  leaving.abort();
  await Promise.all(left);
  let reads = 0;
  for (; reading.length > 0; reads++) {
    assert.deepEqual(organizations(), ["noisy"]);
    reading.at(0)?.end();
    await setImmediate();
  }
  assert.ok(reads >= 2 && reads <= 6, `${reads} reads`);
  staying.abort();
  await Promise.all([first, last]);
});

test("long events are read once for all streams of an address, and short ones meanwhile", async (t) => {
  const long = { row: 1, line: null };
  const short = { row: 1, line: "{}" };
  let lines = 0;
  const database = {
    async query(text: string, [organization]: readonly unknown[]) {
      if (text.includes(LOOK)) return [{ last: 1, row: 1, beginning: "1".repeat(320) }];
      if (text.startsWith("SELECT line")) return [{ line: `${++lines}`.repeat(1 << 20) }];
      if (text.startsWith("SELECT row")) return [organization === "long" ? long : short];
      return [];
    },
  } as unknown as Database;
  const arrivals = new Arrivals(database);
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  const first = async (organization: string, n: number) => {
    const party = ["public", organization, "127.0.0.1"];
    const tail = arrivals.tail(organization, { q: `${n}` }, START, party);
    const stream = tail.arrivals(leaving.signal)[Symbol.asyncIterator]();
    return ((await stream.next()).value as readonly { json: Buffer }[])[0]?.json;
  };
  const unread = Promise.all(Array.from({ length: 20 }, (_, n) => first("long", n)));
  arrivals.grown("long", 1);
  assert.equal(new Set(await unread).size, 1);
  assert.equal(lines, 1);
  const read = first("short", 1);
  arrivals.grown("short", 1);
  assert.equal(String(await read), "{}");
});

test("streams end when the newest row number went back, as after a fail-over that lost rows", async () => {
  const { arrivals } = open({ organization_id: "acme", last_seq: 3 });
  const { signal } = new AbortController();
  for await (const _ of arrivals.tail("acme", {}, { row: 5, mark: 1 }).arrivals(signal))
    assert.fail();
});
