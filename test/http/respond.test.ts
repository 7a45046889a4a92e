import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { BadInput } from "../../src/core/errors.ts";
import { empty, json, later, reply, stream, text } from "../../src/http/reply.ts";
import type { Reply, Settle } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { serve, until } from "./serve.ts";

function row(handle: () => Reply | Promise<Reply>) {
  return route({
    method: "GET",
    path: "/answer",
    surfaces: ["portal"],
    access: "open",
    summary: "s",
    tags: ["t"],
    replies: { 201: { type: "object" } },
    handle,
  });
}

const PARTS = ['{"a":', '"€"', "}"].map((part) => Buffer.from(part));
const LONG = ['"', "€".repeat(40_000), '"'].map((part) => Buffer.from(part));
const GET = ["GET /answer HTTP/1.1", "Host: test", "", ""] as const;
const HEAD = ["HEAD /answer HTTP/1.1", "Host: test", "", ""] as const;

for (const [what, answer, status, type, body] of [
  ["a value", reply(201, { a: "ä😀" }), 201, "application/json; charset=utf-8", '{"a":"ä😀"}'],
  ["ready JSON", json(200, "{}"), 200, "application/json; charset=utf-8", "{}"],
  ["ASCII text", text(200, "text/plain", "abc\u007f"), 200, "text/plain", "abc\u007f"],
  ["Latin-1 text", text(200, "text/plain", "äÿ\u0080"), 200, "text/plain", "äÿ\u0080"],
  ["other text", text(200, "text/plain", "€\ud83d\ude00"), 200, "text/plain", "€😀"],
  ["half of a pair", text(200, "text/plain", "a\ud83d"), 200, "text/plain", "a\ufffd"],
  ["bytes", text(200, "text/plain", Buffer.from("€")), 200, "text/plain", "€"],
  ["JSON in parts", json(200, PARTS), 200, "application/json; charset=utf-8", '{"a":"€"}'],
  ["long JSON in parts", json(200, LONG), 200, "application/json; charset=utf-8", LONG.join("")],
  ["an empty text", text(200, "text/plain", ""), 200, "text/plain", ""],
] as const) {
  test(`${what} is sent whole with its length, and HEAD states the same length`, async (t) => {
    const { open } = await serve(t, [row(() => answer)]);
    const connection = open();
    for (const [method, lines] of [["GET", GET] as const, ["HEAD", HEAD] as const]) {
      connection.send(...lines);
      const got = await connection.next(method);
      assert.equal(got.status, status);
      assert.equal(got.headers.get("content-type"), type);
      assert.equal(got.headers.get("content-length"), String(Buffer.byteLength(body)));
      assert.equal(got.body, method === "GET" ? body : "");
    }
    assert.equal(connection.rest, "");
  });
}

test("204 and 304 have neither body nor type, and the connection stays open", async (t) => {
  const answers = [empty(204), empty(304, ["ETag", '"a"', "Cache-Control", "no-cache"])];
  const { open } = await serve(t, [row(() => answers.shift() ?? json(200, "1"))]);
  const connection = open();
  connection.send(...GET);
  const none = await connection.next();
  assert.equal(none.status, 204);
  assert.equal(none.headers.get("content-type"), undefined);
  connection.send(...GET);
  const same = await connection.next();
  assert.equal(same.status, 304);
  assert.equal(same.headers.get("etag"), '"a"');
  assert.equal(same.headers.get("cache-control"), "no-cache");
  connection.send(...GET);
  assert.equal((await connection.next()).body, "1");
});

test("a reply's headers replace the common caching, but never the Vary by origin", async (t) => {
  const own = [
    ["Cache-Control", "max-age=5", "Vary", "Accept"],
    ["Vary", "Origin, X-API-Key"],
    ["Vary", "X-Origin"],
  ];
  const { open } = await serve(t, [row(() => json(200, "1", own.shift() ?? []))]);
  const connection = open();
  const vary = async () => {
    connection.send(...GET);
    const { headers } = await connection.next();
    const names = (headers.get("vary") ?? "").split(", ").sort();
    return [names, headers.get("cache-control")];
  };
  assert.deepEqual(await vary(), [["Accept", "Origin"], "max-age=5"]);
  assert.deepEqual(await vary(), [["Origin", "X-API-Key"], "no-store"]);
  assert.deepEqual(await vary(), [["Origin", "X-Origin"], "no-store"]);
});

test("a stream is sent while it is written, and the connection stays open after it", async (t) => {
  const written = stream(
    "text/plain",
    async (output) => {
      output.write("one,");
      await turn();
      output.write("two");
    },
    ["X-Own", "1"],
  );
  const { open, summaries } = await serve(t, [row(() => written)]);
  const connection = open();
  for (let i = 0; i < 2; i++) {
    connection.send(...GET);
    const { status, body, headers } = await connection.next();
    assert.equal(status, 200);
    assert.equal(body, "one,two");
    assert.equal(headers.get("content-type"), "text/plain");
    assert.equal(headers.get("x-own"), "1");
    assert.equal(headers.get("cache-control"), "no-store");
  }
  assert.deepEqual(
    summaries.map(({ status, error }) => [status, error]),
    [
      [200, undefined],
      [200, undefined],
    ],
  );
});

test("HEAD never starts a stream", async (t) => {
  let started = 0;
  const counted = stream("text/plain", (output) => {
    started++;
    output.write("x");
    return Promise.resolve();
  });
  const { open } = await serve(t, [row(() => counted)]);
  const connection = open();
  connection.send(...HEAD);
  const { status, headers } = await connection.next("HEAD");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain");
  assert.equal(started, 0);
  connection.send(...GET);
  assert.equal((await connection.next()).body, "x");
  assert.equal(started, 1);
});

test("the signal fires when the reader disconnects, which is not a failure", async (t) => {
  let isAborted: boolean | undefined;
  const endless = stream("text/event-stream", async (output, signal) => {
    isAborted = signal.aborted;
    output.write("first");
    await once(signal, "abort");
    isAborted = signal.aborted;
    signal.throwIfAborted();
  });
  const { open, summaries } = await serve(t, [row(() => endless)]);
  const connection = open();
  connection.send(...GET);
  await once(connection.socket, "data");
  assert.equal(isAborted, false);
  connection.socket.destroy();
  await until(() => isAborted === true && summaries.length === 1);
  await turn();
  assert.deepEqual(
    summaries.map(({ error }) => error),
    [undefined],
  );
});

test("a write that fails before the connection's close event is not a failure either", async (t) => {
  const cut = stream("text/plain", async (output) => {
    output.write("first");
    await turn(); // sent
    (output as ServerResponse).socket?.destroy();
    throw new Error("write ECANCELED");
  });
  const { open, summaries } = await serve(t, [row(() => cut)]);
  const connection = open();
  connection.send(...GET);
  await connection.ended();
  assert.deepEqual(
    summaries.map(({ status, error }) => [status, error]),
    [[200, undefined]],
  );
});

for (const [what, answer] of [
  ["an answer", () => reply(201, {})],
  ["a stream", () => stream("text/plain", () => assert.fail("Nobody reads it"))],
  ["a refusal", () => assert.fail(new BadInput("No"))],
] as const) {
  test(`${what} that comes after its client has disconnected is counted as 499`, async (t) => {
    let settle: Settle = () => {};
    const late = later((done) => (settle = done));
    const { open, summaries, requests } = await serve(t, [row(() => late)]);
    const connection = open();
    connection.send(...GET);
    await until(() => requests.length === 1);
    connection.socket.destroy();
    await until(() => requests[0]?.socket.destroyed === true);
    await turn();
    try {
      settle(undefined, answer());
    } catch (error) {
      settle(error);
    }
    await until(() => summaries.length > 0);
    assert.deepEqual(
      summaries.map(({ status }) => status),
      [499],
    );
  });
}

test("a stream whose reader disconnects before its first byte is counted as 499", async (t) => {
  let isStarted = false;
  const slow = stream("text/plain", async (_output, signal) => {
    isStarted = true;
    await once(signal, "abort");
  });
  const { open, summaries } = await serve(t, [row(() => slow)]);
  const connection = open();
  connection.send(...GET);
  await until(() => isStarted);
  connection.socket.destroy();
  await until(() => summaries.length === 1);
  assert.equal(summaries[0]?.status, 499);
});

for (const [when, status, start] of [
  [
    "at once",
    500,
    () => {
      throw new Error("disk failed");
    },
  ],
  ["before the first byte", 500, () => Promise.reject(new Error("disk failed"))],
  [
    "half-way",
    200,
    async (output: NodeJS.WritableStream) => {
      output.write("half");
      await turn();
      throw new Error("disk failed");
    },
  ],
] as const) {
  test(`a stream that fails ${when} cuts the connection, so that it never looks complete`, async (t) => {
    const failing = stream("text/plain", start as () => Promise<void>);
    const { open, summaries } = await serve(t, [row(() => failing)]);
    const connection = open();
    connection.send(...GET);
    await assert.rejects(connection.next(), /Ended after/);
    assert.doesNotMatch(connection.rest, /disk failed|\r\n0\r\n/);
    assert.equal(summaries.length, 1);
    assert.match(String(summaries[0]?.error), /disk failed/);
    assert.equal(summaries[0]?.status, status);
  });
}
