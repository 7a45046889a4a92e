import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { filterOf } from "../../../../src/audit/filter.ts";
import { streamPosition } from "../../../../src/audit/positions.ts";
import type { Arrival, AuditFilter } from "../../../../src/audit/store.ts";
import type { GlobalRow } from "../../../../src/storage/files/audit/index/segment-index.ts";
import { Tail, type TailSource } from "../../../../src/storage/files/audit/live/tail.ts";
import { auditEventOf } from "../../../audit/store-suite.ts";
import { until } from "../../../http/serve.ts";

/** A log of one event that counts how often it is read. */
class OneEvent implements TailSource {
  readonly tails = new Set<Tail>();
  readonly #line: Buffer;
  reads = 0;

  constructor(bytes: number) {
    this.#line = Buffer.from(JSON.stringify({ command: "x".repeat(bytes) }));
  }

  rowsAfter(row: GlobalRow): readonly GlobalRow[] {
    return row < 1 ? [1 as GlobalRow] : [];
  }

  bytesOf(): number {
    return this.#line.length;
  }

  async readRows(rows: readonly GlobalRow[]): Promise<readonly Buffer[]> {
    this.reads++;
    return rows.map(() => this.#line);
  }

  /** Streams that continue before the event. */
  follow(
    count: number,
    signal: AbortSignal,
    { filter = {}, address = "127.0.0.1" }: { filter?: AuditFilter; address?: string } = {},
  ): AsyncIterator<readonly Arrival[]>[] {
    const party = ["public", "default", address];
    const tailOf = () => new Tail(filter, 0 as GlobalRow, () => this, party);
    return Array.from({ length: count }, () => tailOf().arrivals(signal)[Symbol.asyncIterator]());
  }
}

async function someTurns(): Promise<void> {
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
}

test("streams of one address read long events one after the other, each for a second at most", async (t) => {
  const left = new AbortController();
  t.after(() => left.abort());
  const log = new OneEvent(1 << 20);
  const streams = log.follow(20, left.signal);
  const [first, second, ...others] = streams;
  const firstEvents = first?.next();
  void second?.next();
  const ends = others.map((stream) => stream.next());
  await someTurns();
  assert.equal((await firstEvents)?.value?.length, 1);
  assert.equal(log.reads, 1, "the first has not taken its event");
  void first?.next();
  await someTurns();
  assert.equal(log.reads, 2, "the second has not taken its event");
  await until(() => log.reads === 3);
  left.abort();
  const rest = await Promise.all(ends.slice(1));
  assert.ok(rest.every(({ done }) => done));
  assert.equal(log.reads, 3);
  for (const stream of streams) await stream.return?.();
});

test("short events are read without a wait for other readers, also for those of a long one", async (t) => {
  const left = new AbortController();
  t.after(() => left.abort());
  const long = new OneEvent(1 << 20);
  const [unread] = long.follow(1, left.signal);
  await unread?.next();
  const log = new OneEvent(1 << 10);
  for (const stream of log.follow(20, left.signal)) void stream.next();
  await someTurns();
  assert.equal(log.reads, 20);
});

test("the streams of one address compare events with their filters one after the other", async (t) => {
  const left = new AbortController();
  t.after(() => left.abort());
  const log = new OneEvent(1 << 10);
  const filter = { executor: "nobody" };
  for (const stream of log.follow(50, left.signal, { filter })) void stream.next();
  const [other] = log.follow(1, left.signal, { filter: { q: "x" }, address: "127.0.0.2" });
  const { value } = (await other?.next()) ?? {};
  assert.equal(value?.length, 1);
  assert.ok(log.reads < 10, `${log.reads} reads`);
});

/** A stream that has read all, and events with a number of reads of their executor. */
async function liveTail(t: TestContext, filter: AuditFilter) {
  const left = new AbortController();
  t.after(() => left.abort());
  const tail = new Tail(filter, 1 as GlobalRow, () => new OneEvent(1), ["public", "default", "a"]);
  const next = tail.arrivals(left.signal)[Symbol.asyncIterator]().next();
  await someTurns();
  const reads = { count: 0 };
  const offer = (row: number, executor: string, command: string, tails: number): void => {
    const event = auditEventOf({ command });
    const json = Buffer.from(JSON.stringify({ ...event, executor }));
    Object.defineProperty(event, "executor", { get: () => (reads.count++, executor) });
    tail.offer(
      row as GlobalRow,
      event,
      { position: streamPosition(row as GlobalRow), json },
      tails,
    );
  };
  return { next, reads, offer };
}

test("filters that take long for a short event are compared in turns of their own", async (t) => {
  const filter = filterOf({ executor: "e*".repeat(64), wildcards: "executor" });
  const { next, reads, offer } = await liveTail(t, filter);
  offer(2, "e".repeat(63), "x", 100);
  offer(3, "e".repeat(64), "x", 100);
  assert.equal(reads.count, 0, "none is compared at once");
  const { value } = await next;
  assert.deepEqual(
    value?.map(({ position }: Arrival) => position),
    [streamPosition(3 as GlobalRow)],
  );
  assert.equal(reads.count, 2);
});

test("filters with few asterisks are compared at once, and exact ones also for long events", async (t) => {
  const wild = await liveTail(t, filterOf({ executor: "*a*", wildcards: "executor" }));
  wild.offer(2, "ada", "x", 100);
  assert.equal(wild.reads.count, 1);
  const exact = await liveTail(t, filterOf({ executor: "ada" }));
  exact.offer(2, "ada", "x".repeat(1 << 20), 100);
  assert.equal(exact.reads.count, 1);
});
