import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test, type TestContext } from "node:test";
import type { AuditFilter, AuditTail, Position } from "../../src/audit/store.ts";
import { AuditStreams } from "../../src/audit/stream.ts";
import { ownTurn } from "../../src/core/scheduling/yielder.ts";
import { nextTurn } from "../../src/core/timers.ts";
import { until } from "../http/serve.ts";
import { EventStream } from "../support/event-stream.ts";
import { MemoryAudit } from "../support/memory-audit.ts";
import { append, auditEventOf } from "./store-suite.ts";
import { serveAudit, type ServedAudit } from "./serve-audit.ts";

const STREAM = "/api/public/audit/stream";
const KIB = 1024;

async function follow(
  t: TestContext,
  app: ServedAudit,
  query = "",
  lastEventId?: string,
): Promise<EventStream> {
  const headers = lastEventId === undefined ? undefined : { "Last-Event-ID": lastEventId };
  const stream = await EventStream.open(app.url, STREAM + query, headers);
  t.after(() => stream.close());
  return stream;
}

async function followFrom(
  t: TestContext,
  app: ServedAudit,
  localAddress: string,
  path = STREAM,
): Promise<EventStream> {
  const stream = await EventStream.open(app.url, path, undefined, localAddress);
  t.after(() => stream.close());
  return stream;
}

test("a stream first sends how to resume, then each event when it is stored", async (t) => {
  const app = await serveAudit(t);
  await app.add({ command: "before" });
  const stream = await follow(t, app);
  assert.equal(stream.status, 200);
  assert.equal(stream.response.headers["content-type"], "text/event-stream");
  assert.equal(stream.response.headers["cache-control"], "no-store");
  const { id, retry, data } = (await stream.block()) ?? {};
  assert.deepEqual([retry, data], ["3000", undefined]);
  assert.match(id ?? "", /^[\w-]+$/);
  const stored = [await app.add({ command: "a\nb" }), await app.add({ command: "ü😀" })];
  const found = [await stream.event(), await stream.event()];
  assert.deepEqual(
    found.map((event) => event?.data),
    stored,
  );
  assert.notEqual(found[0]?.id, found[1]?.id);
});

test("a stream continues after the given position, without a gap or a repetition", async (t) => {
  const app = await serveAudit(t);
  const first = await follow(t, app);
  const beginning = (await first.block())?.id;
  for (const command of ["a", "b"]) await app.add({ command });
  const a = await first.event();
  first.close();
  for (const command of ["c", "d"]) await app.add({ command });
  assert.deepEqual(await (await follow(t, app, "", a?.id)).commands(3), ["b", "c", "d"]);
  const again = await follow(t, app, "", beginning);
  await app.add({ command: "e" });
  assert.deepEqual(await again.commands(5), ["a", "b", "c", "d", "e"]);
});

test("an empty position counts as absent", async (t) => {
  const app = await serveAudit(t);
  await app.add({ command: "before" });
  const stream = await follow(t, app, "", "");
  await stream.block();
  await app.add({ command: "after" });
  assert.deepEqual(await stream.commands(1), ["after"]);
});

test("only matching events are sent", async (t) => {
  const app = await serveAudit(t);
  const stream = await follow(t, app, "?decision=denied&q=GIT");
  await stream.block();
  await app.add({ command: "git push", policy_decision: "ALLOWED" });
  await app.add({ command: "ls", policy_decision: "DENIED" });
  await app.add({ command: "git pull", policy_decision: "DENIED" });
  assert.deepEqual(await stream.commands(1), ["git pull"]);
});

test("an invalid position and an invalid filter are refused", async (t) => {
  const app = await serveAudit(t);
  for (const stream of [
    await follow(t, app, "", "1"),
    await follow(t, app, "?from=yesterday"),
    await follow(t, app, "?to=1"),
  ]) {
    assert.equal(stream.status, 400);
    assert.match(await stream.body(), /^\{"error":"(?:Last-Event-ID|from|to): /);
  }
  assert.equal(app.store.tails, 0);
});

test("an organization at its limit of streams gets no more until one ends", async (t) => {
  const app = await serveAudit(t, { perOrganization: 2 });
  const streams = [await follow(t, app), await follow(t, app)];
  const refused = await follow(t, app);
  assert.equal(refused.status, 429);
  assert.match(String(refused.response.headers["retry-after"]), /^\d+$/);
  refused.close();
  streams[0]?.close();
  await until(() => app.store.tails === 1);
  assert.equal((await follow(t, app)).status, 200);
});

test("an address with most of the streams loses its newest one to another address", async (t) => {
  const app = await serveAudit(t, { perOrganization: 3 });
  const [first, second, newest] = [
    await followFrom(t, app, "127.0.0.2"),
    await followFrom(t, app, "127.0.0.2"),
    await followFrom(t, app, "127.0.0.2"),
  ];
  const other = await followFrom(t, app, "127.0.0.3");
  assert.equal(other.status, 200);
  while (await newest.block());
  assert.equal((await followFrom(t, app, "127.0.0.2")).status, 429, "it still has most");
  await app.add({ command: "ls" });
  for (const stream of [first, second, other]) assert.deepEqual(await stream.commands(1), ["ls"]);
});

test("streams of the open surface take no room from those of signed-in users", async (t) => {
  const app = await serveAudit(t, { perOrganization: 2 });
  for (let i = 0; i < 2; i++) assert.equal((await follow(t, app)).status, 200);
  assert.equal((await follow(t, app)).status, 429);
  const signedIn = await followFrom(t, app, "127.0.0.1", "/api/v1/audit/stream");
  assert.equal(signedIn.status, 200);
});

test("HEAD ends no stream to make room", async (t) => {
  const app = await serveAudit(t, { perOrganization: 2 });
  const streams = [await followFrom(t, app, "127.0.0.2"), await followFrom(t, app, "127.0.0.2")];
  assert.equal((await fetch(app.url + STREAM, { method: "HEAD" })).status, 200);
  await app.add({ command: "ls" });
  for (const stream of streams) assert.deepEqual(await stream.commands(1), ["ls"]);
});

test("many streams that begin at once do not exceed the limit", async (t) => {
  const app = await serveAudit(t, { perOrganization: 3 });
  const streams = await Promise.all(Array.from({ length: 9 }, () => follow(t, app)));
  const statuses = streams.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429, 429]);
});

test("comments keep a silent stream open", async (t) => {
  const app = await serveAudit(t, { keepAliveMs: 2 });
  const stream = await follow(t, app);
  await stream.block();
  for (const block of [await stream.block(), await stream.block()]) {
    assert.deepEqual(block, { comment: "keep-alive" });
  }
});

test("a stream ends after a while, between two events, so that credentials are checked again", async (t) => {
  const app = await serveAudit(t, { keepAliveMs: 2, lifetimeMs: 6 });
  const stream = await follow(t, app);
  await until(() => app.store.tails === 0);
  while (await stream.block());
  assert.ok(stream.response.complete);
});

for (const { size, count } of [
  { size: 2 * KIB, count: 8_000 },
  { size: 64 * KIB, count: 300 },
]) {
  test(`a reader that falls behind in a burst of ${count} events and catches up gets all`, async (t) => {
    const app = await serveAudit(t);
    const stream = await follow(t, app);
    await stream.block();
    const commands = Array.from({ length: count }, (_, n) => `${n} ${"x".repeat(size)}`);
    for (const command of commands) await app.add({ command });
    assert.deepEqual(await stream.commands(count), commands);
  });
}

test("a reader that does not read is disconnected", async (t) => {
  const app = await serveAudit(t, { keepAliveMs: 20 });
  const stream = await follow(t, app);
  stream.response.pause();
  for (let n = 0; n < 300; n++) await app.add({ command: "x".repeat(64 * KIB) });
  await until(() => app.store.tails === 0);
  assert.equal(app.summaries.at(-1)?.error, undefined);
});

test("the bytes that wait for a stalled reader are bounded", async (t) => {
  const store = new MemoryAudit();
  const streams = new AuditStreams();
  const gone = new AbortController();
  const output = new Writable({ write: () => {} }); // never completes a write
  t.after(() => gone.abort());
  const source = {
    tail: store.tail("default", {}, undefined),
    organization: "default",
    caller: ["public", "default", "127.0.0.1"],
    isAllowed: () => true,
  };
  const running = streams.run(source, output, gone.signal);
  const event = auditEventOf({ organization_id: "default", command: "x".repeat(4 * KIB) });
  for (let n = 0; n < 100; n++) await append(store, [{ ...event, id: `e${n}` }], "default");
  await until(() => output.writableLength >= 64 * KIB);
  for (let n = 0; n < 10; n++) await new Promise(setImmediate);
  assert.ok(output.writableLength >= 64 * KIB, `${output.writableLength}`);
  assert.ok(output.writableLength <= 70 * KIB, `${output.writableLength}`);
  gone.abort();
  await running;
});

for (const length of [1, 64 * KIB]) {
  test(`all streams send the same bytes of an event of ${length} characters, not a copy each`, async () => {
    const { start } = new MemoryAudit().tail("default", {}, undefined);
    const json = Buffer.from(JSON.stringify({ command: "x".repeat(length) }));
    const tail: AuditTail = {
      start,
      async *arrivals() {
        yield [{ position: start, json }];
      },
    };
    const streams = new AuditStreams();
    const sent = [1, 2].map(async (user) => {
      const chunks: Buffer[] = [];
      const output = new Writable({
        write(chunk: Buffer, _encoding, done) {
          chunks.push(chunk);
          done();
        },
      });
      const caller = ["public", "default", `127.0.0.${user}`];
      const source = { tail, organization: "default", caller, isAllowed: () => true };
      await streams.run(source, output, new AbortController().signal);
      return chunks.find((chunk) => chunk.includes("command"));
    });
    const [one, other] = await Promise.all(sent);
    assert.ok(one);
    assert.equal(one, other);
  });
}

test("events that arrive together are sent as one piece, and many of them by one stream in a turn", async () => {
  const { start } = new MemoryAudit().tail("default", {}, undefined);
  const events = Array.from({ length: 20 }, (_, n) => ({
    ...{ position: start, json: Buffer.from(JSON.stringify({ command: `c${n}` })) },
  }));
  const tail: AuditTail = {
    start,
    async *arrivals() {
      yield events.slice(0, 3);
      yield events;
    },
  };
  const streams = new AuditStreams();
  let turns = 0;
  const count = (): void => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const sent = [1, 2, 3].map(async (user) => {
    const pieces: { readonly turn: number; readonly events: number }[] = [];
    const output = new Writable({
      write(piece: Buffer, _encoding, done) {
        pieces.push({ turn: turns, events: piece.toString("utf8").split("data: ").length - 1 });
        done();
      },
    });
    const caller = ["public", "default", `127.0.0.${user}`];
    const source = { tail, organization: "default", caller, isAllowed: () => true };
    await streams.run(source, output, new AbortController().signal);
    return pieces;
  });
  const pieces = await Promise.all(sent);
  clearImmediate(counting);
  const counts = pieces.map((own) => own.map((piece) => piece.events));
  assert.deepEqual(counts, Array(3).fill([0, 3, 20]));
  const turnsOf = (nth: number) => new Set(pieces.map((own) => own[nth]?.turn));
  assert.deepEqual([turnsOf(1).size, turnsOf(2).size], [1, 3]);
});

for (const { what, events } of [
  { what: "a long event", events: [1024 * KIB] },
  { what: "a few events that are long together", events: Array(8).fill(4 * KIB) as number[] },
]) {
  test(`${what} is sent by one stream in a turn`, async () => {
    const { start } = new MemoryAudit().tail("default", {}, undefined);
    const arrived = events.map((size) => ({ position: start, json: Buffer.alloc(size, "x") }));
    const tail: AuditTail = {
      start,
      async *arrivals() {
        yield arrived;
      },
    };
    const streams = new AuditStreams();
    let turn = 0;
    const count = (): void => {
      turn++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const turns = new Set<number>();
    const sent = [1, 2, 3].map(async (user) => {
      const output = new Writable({
        write(piece: Buffer, _encoding, done) {
          if (piece.length > KIB) turns.add(turn);
          done();
        },
      });
      const caller = ["public", "default", `127.0.0.${user}`];
      const source = { tail, organization: "default", caller, isAllowed: () => true };
      await streams.run(source, output, new AbortController().signal);
    });
    await Promise.all(sent);
    clearImmediate(counting);
    assert.equal(turns.size, 3);
  });
}

test("other long work takes turns with the streams of an address, not with each of them", async () => {
  const { start } = new MemoryAudit().tail("default", {}, undefined);
  const arrived = [{ position: start, json: Buffer.alloc(1024 * KIB, "x") }];
  const tail: AuditTail = {
    start,
    async *arrivals() {
      yield arrived;
    },
  };
  const streams = new AuditStreams();
  const order: string[] = [];
  const sent = Array.from({ length: 20 }, async () => {
    const output = new Writable({
      write(piece: Buffer, _encoding, done) {
        if (piece.length > KIB) order.push("stream");
        done();
      },
    });
    const caller = ["public", "default", "192.0.2.1"];
    const source = { tail, organization: "default", caller, isAllowed: () => true };
    await streams.run(source, output, new AbortController().signal);
  });
  await nextTurn(); // all streams wait for their turns
  await ownTurn();
  assert.ok(order.length <= 3, `${order.length} streams came first`);
  await Promise.all(sent);
  assert.equal(order.length, 20);
});

test("a disconnected reader's stream is removed", async (t) => {
  const app = await serveAudit(t);
  const stream = await follow(t, app);
  await stream.block();
  assert.equal(app.store.tails, 1);
  stream.close();
  await until(() => app.store.tails === 0);
});

test("a service that stops ends its streams and refuses new ones", async (t) => {
  const app = await serveAudit(t);
  const stream = await follow(t, app);
  await stream.block();
  app.streams.close();
  assert.equal(await stream.block(), undefined);
  const refused = await follow(t, app);
  assert.equal(refused.status, 503);
  refused.close();
  await app.close();
});

test("HEAD opens no stream", async (t) => {
  const app = await serveAudit(t);
  const answer = await fetch(app.url + STREAM, { method: "HEAD" });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  assert.equal(app.store.tails, 0);
});

test("a stream whose events cannot be read is cut, and the cause is logged", async (t) => {
  const fault = new Error("EIO");
  let fail = (_: Error): void => {};
  const failing = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const store = new (class extends MemoryAudit {
    override tail(
      organization: string,
      filter: AuditFilter,
      after: Position | undefined,
    ): AuditTail {
      const { start } = super.tail(organization, filter, after);
      return {
        start,
        async *arrivals() {
          yield await failing;
        },
      };
    }
  })();
  const app = await serveAudit(t, {}, store);
  const stream = await follow(t, app);
  await stream.block();
  fail(fault);
  assert.equal(await stream.block(), undefined);
  await until(() => app.summaries.length > 0);
  assert.equal(app.summaries[0]?.error, fault);
  assert.equal(store.tails, 0);
});
