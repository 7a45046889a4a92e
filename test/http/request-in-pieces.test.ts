import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { connectionArrived } from "../../src/core/scheduling/arrivals.ts";
import { reply } from "../../src/http/reply.ts";
import {
  BUSY_WITH_PIECES,
  MOST_SMALL_PIECES,
  RequestInPieces,
  SMALL_PIECE_BYTES,
  SMALL_PIECES,
} from "../../src/http/request-in-pieces.ts";
import { route } from "../../src/http/route.ts";
import { listen } from "../../src/http/server.ts";
import { serve } from "./serve.ts";

const free = { type: "object", additionalProperties: true } as const;
const common = { surfaces: ["portal"], access: "open", summary: "s", tags: ["t"] } as const;

const ROWS = [
  route({
    ...{ ...common, method: "POST", path: "/echo", body: free, replies: { 200: free } },
    handle: ({ body }) => reply(200, body),
  }),
];

const HEAD = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const END = "2\r\n{}\r\n0\r\n\r\n"; // one small chunk

function chunks(count: number, bytes: number): string {
  return `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`.repeat(count);
}

test("one small chunk beyond the limit is refused, and the rest of what was read is dropped", async (t) => {
  const { open, requests } = await serve(t, ROWS);
  const patient = open();
  patient.send(CHUNKED + chunks(MOST_SMALL_PIECES - 1, 1) + END);
  assert.equal((await patient.next()).body, "{}");
  const greedy = open();
  greedy.send(CHUNKED + chunks(MOST_SMALL_PIECES, 1) + END);
  const refusal = await greedy.next();
  assert.equal(refusal.status, 400);
  assert.match(refusal.body, /at most 2048 chunks of under 64 bytes: send larger ones/);
  await greedy.ended();
  const last = requests.at(-1);
  assert.ok((last?.readableLength ?? 0) <= MOST_SMALL_PIECES);
  patient.send(CHUNKED + END); // the limit is that of one body
  assert.equal((await patient.next()).status, 200);
  const next = open(); // Node uses the parser of the closed connection again
  next.send(CHUNKED + END);
  assert.equal((await next.next()).body, "{}");
});

test("a body in very many chunks is read over several turns of the event loop", async (t) => {
  let [bytes, ofTurn, mostOfTurn, isOver] = [0, 0, 0, false];
  const server = await listen(
    (request, response) => {
      request.on("data", (piece: Buffer) => {
        if (bytes === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200); // much arrives meanwhile
        bytes += piece.length;
        mostOfTurn = Math.max(mostOfTurn, ++ofTurn);
      });
      request.on("end", () => {
        isOver = true;
        response.end();
      });
    },
    { host: "127.0.0.1", port: 0 },
    () => "id",
  );
  t.after(() => server.close());
  const count = 100_000; // beyond 2 MiB, of which 64 KiB are read at a time
  const body = chunks(count, SMALL_PIECE_BYTES);
  // Another thread: a client in this one would send only between the turns.
  const client = new Worker(
    `const { port, text } = require("node:worker_threads").workerData;
    require("node:net").connect(port, "127.0.0.1").on("error", () => {}).write(text);`,
    { eval: true, workerData: { port: server.bound.port, text: CHUNKED + body + END } },
  );
  t.after(() => client.terminate());
  while (!isOver) {
    await turn();
    ofTurn = 0;
  }
  assert.equal(bytes, count * SMALL_PIECE_BYTES + 2);
  assert.ok(mostOfTurn <= (64 << 10) / SMALL_PIECE_BYTES, `${mostOfTurn} pieces in a turn`);
});

test("after too many small chunks no more of the connection is read", async () => {
  const request = new RequestInPieces(new Socket());
  request.headers = { "transfer-encoding": "chunked" };
  const faults: NodeJS.ErrnoException[] = [];
  request.socket.on("error", (error) => faults.push(error));
  for (let i = 0; i < MOST_SMALL_PIECES; i++) request.push(Buffer.from("a"));
  request.resume();
  await turn();
  assert.equal(request.push(Buffer.from("a")), false);
  assert.deepEqual(
    faults.map(({ code }) => code),
    [SMALL_PIECES],
  );
});

test("a body that is refused beside many others in chunks can be sent again", async (t) => {
  const { open } = await serve(t, ROWS);
  const connections = Array.from({ length: 24 }, () => open());
  await Promise.all(
    connections.map((connection) => {
      connection.send(CHUNKED + END);
      return connection.next();
    }),
  );
  const body = CHUNKED + chunks(MOST_SMALL_PIECES - 1, 1) + END;
  for (const connection of connections) connection.send(body); // Node reads all of them in one turn
  const answers = await Promise.all(connections.map((connection) => connection.next()));
  const statuses = new Set(answers.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), [200, 503]);
  for (const { status, headers, body: text } of answers) {
    if (status !== 503) continue;
    assert.match(text, /at once: send it again later, or in larger chunks/);
    assert.equal(headers.get("retry-after"), "1");
  }
  const again = open();
  again.send(body);
  assert.equal((await again.next()).body, "{}");
});

test("larger chunks are not counted", async (t) => {
  const { open } = await serve(t, ROWS);
  const connection = open();
  connection.send(CHUNKED + chunks(MOST_SMALL_PIECES + 1, SMALL_PIECE_BYTES) + END);
  assert.equal((await connection.next()).body, "{}");
});

test("of bodies that wait, four are read on in each turn of the event loop", async (t) => {
  let reads = 0;
  t.mock.method(IncomingMessage.prototype, "_read", () => reads++);
  for (let i = 0; i < 10; i++) {
    const request = new RequestInPieces(new Socket());
    request.resume();
    for (let piece = 0; piece < 64; piece++) request.push(Buffer.alloc(SMALL_PIECE_BYTES));
  }
  await turn(); // each is read from its beginning, and four are read on
  const later: number[] = [];
  for (let n = 0; n < 3; n++) {
    reads = 0;
    await turn();
    later.push(reads);
  }
  assert.deepEqual(later, [4, 2, 0]);
});

test("of bodies that wait, those of each network are read on in turn", async (t) => {
  const order: string[] = [];
  t.mock.method(RequestInPieces.prototype, "readOn", function (this: RequestInPieces) {
    order.push(this.socket.remoteAddress ?? "");
    return true;
  });
  const begin = (address: string): void => {
    const socket = Object.defineProperty(new Socket(), "remoteAddress", { value: address });
    const request = new RequestInPieces(socket);
    for (let piece = 0; piece < 64; piece++) request.push(Buffer.alloc(SMALL_PIECE_BYTES));
  };
  for (let i = 0; i < 6; i++) begin("2001:db8::1");
  begin("192.0.2.7");
  await turn();
  assert.equal(order.indexOf("192.0.2.7"), 1);
  await turn();
  assert.equal(order.length, 7);
});

test("behind a proxy small chunks are counted by the address of the caller", async (t) => {
  const { open } = await serve(t, ROWS, { trustedProxies: 1 }, { trustProxy: 1 });
  const from = (address: string, count: number): string =>
    CHUNKED.replace("Host: a", `Host: a\r\nX-Forwarded-For: ${address}`) + chunks(count, 1) + END;
  let status = 200;
  for (let n = 0; status === 200 && n < 200; n++) {
    const greedy = open();
    greedy.send(from("192.0.2.1", MOST_SMALL_PIECES - 1));
    status = (await greedy.next()).status;
  }
  assert.equal(status, 503);
  const modest = open();
  modest.send(from("192.0.2.2", 500));
  assert.equal((await modest.next()).status, 200);
});

function largeBody(t: TestContext): { request: RequestInPieces; reads: () => number } {
  const { mock } = t.mock.method(IncomingMessage.prototype, "_read", () => {});
  const request = new RequestInPieces(new Socket());
  request.on("data", () => {});
  return { request, reads: () => mock.callCount() };
}

test("after 128 KiB the rest of a body with a length waits for a later turn", async (t) => {
  const { request, reads } = largeBody(t);
  await turn(); // it is read from its beginning
  const before = reads();
  for (let piece = 0; piece < 2; piece++) {
    assert.equal(request.push(Buffer.alloc(64 << 10)), piece === 0);
  }
  assert.equal(reads(), before);
  await turn();
  assert.equal(reads(), before + 1);
});

test("no body is read on while connections arrive, for eight turns at most", async (t) => {
  const { request, reads } = largeBody(t);
  await turn();
  const before = reads();
  connectionArrived();
  request.push(Buffer.alloc(128 << 10));
  let turns = 0;
  while (reads() === before && turns < 20) {
    connectionArrived();
    await turn();
    turns++;
  }
  assert.equal(turns, 8);
});

test("a body with a few small chunks is not refused for the many of others", async () => {
  const begin = (): RequestInPieces => {
    const request = new RequestInPieces(new Socket());
    request.headers = { "transfer-encoding": "chunked" };
    request.socket.on("error", (error: NodeJS.ErrnoException) => faults.push(error.code));
    return request;
  };
  const faults: unknown[] = [];
  while (faults.length === 0) {
    await turn(); // which has only 16,384 chunks
    const other = begin();
    for (let i = 0; i < MOST_SMALL_PIECES && faults.length === 0; i++) {
      other.push(Buffer.from(" "));
    }
  }
  const body = begin(); // in the same turn, so that no more small chunks are allowed
  for (let i = 0; i < 64; i++) body.push(Buffer.alloc(SMALL_PIECE_BYTES)); // then its rest waits
  body.push(Buffer.from("]}"));
  assert.deepEqual(faults, [BUSY_WITH_PIECES]);
});
