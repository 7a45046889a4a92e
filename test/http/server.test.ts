import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { later, type Settle } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { MOST_HEADERS } from "../../src/http/request.ts";
import { listen } from "../../src/http/server.ts";
import type { WireAnswer } from "./connection.ts";
import { serve, until } from "./serve.ts";

// With the usual timeouts these tests would take a minute or more.
const IN_TIME = { timeout: 55_000 };

const free = { type: "object", additionalProperties: true } as const;
const common = { surfaces: ["portal"], access: "open", summary: "s", tags: ["t"] } as const;

const POST = ["POST /echo HTTP/1.1", "Host: test", "Content-Type: application/json"] as const;

const rows = [
  route({
    ...common,
    method: "GET",
    path: "/alive",
    replies: { 200: free },
    handle: () => ({ alive: true }),
  }),
  route({
    ...common,
    method: "POST",
    path: "/echo",
    body: free,
    replies: { 200: free },
    handle: ({ body }) => body,
  }),
];

/** Checks the common properties of refusals, including those of invalid HTTP. */
function assertIsRefusal({ status, headers, body }: WireAnswer, expected: number): void {
  assert.equal(status, expected);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("vary"), "Origin");
  assert.match(headers.get("x-request-id") ?? "", /^[\w.:/+=-]{1,128}$/);
  assert.equal(headers.get("connection"), "close");
  const parsed = JSON.parse(body) as { error: string };
  assert.deepEqual(Object.keys(parsed), ["error"]);
  assert.match(parsed.error, /^[A-Z].*[^.]$/);
}

for (const [what, lines, status] of [
  ["noise", ["\u0016\u0003\u0001 hello"], 400],
  ["no target", ["GET", "", ""], 400],
  ["a lower-case method", ["get /alive HTTP/1.1", "Host: a", "", ""], 400],
  ["an unknown method", ["FETCH /alive HTTP/1.1", "Host: a", "", ""], 400],
  ["a target that is no path", ["GET alive HTTP/1.1", "Host: a", "", ""], 400],
  ["an unknown version", ["GET /alive HTTP/7.1", "Host: a", "", ""], 400],
  ["a bare line feed", ["GET /alive HTTP/1.1\nHost: a", "", ""], 400],
  ["a bare carriage return", ["GET /alive HTTP/1.1", "Host: a\rX: b", "", ""], 400],
  ["a length twice", [...POST, "Content-Length: 2", "Content-Length: 2", "", "{}"], 400],
  ["a list of lengths", [...POST, "Content-Length: 2, 2", "", "{}"], 400],
  ["a header without a colon", ["GET /alive HTTP/1.1", "Host: a", "nonsense", "", ""], 400],
  ["a blank before the colon", ["GET /alive HTTP/1.1", "Host : a", "", ""], 400],
  ["a folded header", ["GET /alive HTTP/1.1", "Host: a", " b", "", ""], 400],
  ["a NUL in a header", ["GET /alive HTTP/1.1", "Host: a\u0000", "", ""], 400],
  ["a length that is not a number", [...POST, "Content-Length: 2x", "", "{}"], 400],
  ["a negative length", [...POST, "Content-Length: -2", "", "{}"], 400],
  ["two lengths", [...POST, "Content-Length: 2", "Content-Length: 3", "", "{}"], 400],
  [
    "a length beside chunks",
    [...POST, "Content-Length: 2", "Transfer-Encoding: chunked", "", "0", "", ""],
    400,
  ],
  ["chunks that are not last", [...POST, "Transfer-Encoding: chunked, gzip", "", "0", "", ""], 400],
  [
    "a chunk size that is not a number",
    [...POST, "Transfer-Encoding: chunked", "", "x", "", ""],
    400,
  ],
  ["headers without end", ["GET /alive HTTP/1.1", `X: ${"x".repeat(20_000)}`, "", ""], 431],
  ["a target without end", [`GET /${"x".repeat(20_000)} HTTP/1.1`, "Host: a", "", ""], 431],
  ["an expectation that is none", [...POST, "Content-Length: 2", "Expect: tea", "", "{}"], 417],
] as const) {
  test(`${what} is a ${status} in JSON, and ends the connection`, async (t) => {
    const { open } = await serve(t, rows);
    const connection = open();
    connection.send(...lines);
    const answer = await connection.next();
    assertIsRefusal(answer, status);
    await connection.ended();
    assert.equal(connection.rest, "");
  });
}

test("HTTP/2 that was not negotiated is a 400", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  connection.send("GET /alive HTTP/2.0", "Host: a", "", "");
  assert.equal((await connection.next()).status, 400);
});

test("the last of as many headers as are allowed is read, and one more is a 431", async (t) => {
  const seen: unknown[] = [];
  const { open } = await serve(t, rows, {
    resolveCaller: (_access, _surface, { apiKey }) => {
      seen.push(apiKey);
      return { organization: "default", actor: undefined };
    },
  });
  const others = (count: number) => Array.from({ length: count - 2 }, () => "a:");
  for (const count of [MOST_HEADERS + 1, 3_000]) {
    const connection = open();
    const send = (headers: number) =>
      connection.send("GET /alive HTTP/1.1", ...others(headers), "Host: a", "X-API-Key: k", "", "");
    send(MOST_HEADERS);
    assert.equal((await connection.next()).status, 200);
    send(count);
    assert.equal((await connection.next()).status, 431);
  }
  assert.deepEqual(seen, ["k", "k"]);
});

test("a second Host is a 400 even after many other headers", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  const many = Array.from({ length: MOST_HEADERS - 2 }, () => "a:");
  connection.send("GET /alive HTTP/1.1", "Host: a", ...many, "Host: b", "", "");
  assert.equal((await connection.next()).status, 400);
});

const ALIVE = ["GET /alive HTTP/1.1", "Host: a", "", ""] as const;
const HALF = [...POST, "Content-Length: 9", "", '{"a"'] as const;

test("at the limit an idle connection makes room for a new one, not one without a request so far", async (t) => {
  const { open } = await serve(t, rows, {}, { maxConnections: 2 });
  const [fresh, first] = [open(), open()];
  await once(fresh.socket, "connect");
  first.send(...ALIVE);
  assert.equal((await first.next()).status, 200);
  const third = open();
  await first.ended();
  for (const connection of [fresh, third]) {
    connection.send(...ALIVE);
    assert.equal((await connection.next()).status, 200);
  }
});

test("an address with the most connections makes room for others, and cuts its own", async (t) => {
  const { open, requests } = await serve(t, rows, {}, { maxConnections: 4 });
  const stalled = [1, 2, 3].map(() => open("127.0.0.2"));
  const honest = open("127.0.0.3");
  for (const connection of stalled) connection.send(...HALF);
  honest.send(...HALF);
  await until(() => requests.length === 4);
  const newcomer = open("127.0.0.4");
  newcomer.send(...ALIVE);
  assert.equal((await newcomer.next()).status, 200);
  await stalled[0]?.ended();
  open("127.0.0.2").send(...HALF); // it has as many as the others together, so it loses one of its own
  await stalled[1]?.ended();
  honest.send(":1}  "); // the rest of the nine bytes
  assert.equal((await honest.next()).status, 200);
  assert.equal(newcomer.socket.destroyed, false);
});

test("a connection that is being answered is closed only for a client with a smaller share", async (t) => {
  const settles: Settle[] = [];
  const { open } = await serve(t, [...rows, slowRow(settles)], {}, { maxConnections: 2 });
  const [oldest, newer] = [open("127.0.0.2"), open("127.0.0.2")];
  for (const connection of [oldest, newer])
    connection.send("GET /slow HTTP/1.1", "Host: a", "", "");
  await until(() => settles.length === 2);
  await open("127.0.0.2").ended(); // refused itself
  const other = open("127.0.0.3");
  other.send(...ALIVE);
  assert.equal((await other.next()).status, 200);
  await Promise.race([oldest.ended(), newer.ended()]);
});

test("behind proxies connections are not counted by address, and idle ones make room", async (t) => {
  const address = { maxConnections: 3, trustProxy: 1 };
  const { open, requests } = await serve(t, rows, {}, address);
  const proxy = [open("127.0.0.2"), open("127.0.0.2")];
  for (const connection of proxy) connection.send(...HALF);
  await until(() => requests.length === 2);
  const idle = open("127.0.0.3");
  idle.send(...ALIVE);
  assert.equal((await idle.next()).status, 200);
  const next = open("127.0.0.4");
  next.send(...ALIVE);
  assert.equal((await next.next()).status, 200);
  await idle.ended();
  assert.ok(proxy.every(({ socket }) => !socket.destroyed));
});

test("a connection that stays idle after an answer is closed", IN_TIME, async (t) => {
  const connection = (await serve(t, rows, {}, { limits: { keepAliveTimeout: 1 } })).open();
  connection.send("GET /alive HTTP/1.1", "Host: a", "", "");
  assert.equal((await connection.next()).status, 200);
  await connection.ended();
});

test("CONNECT is refused on every path", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  connection.send("CONNECT example.com:443 HTTP/1.1", "Host: example.com:443", "", "");
  const answer = await connection.next();
  assertIsRefusal(answer, 405);
  assert.notEqual(answer.headers.get("allow"), undefined);
  await connection.ended();
});

const CONNECT = ["CONNECT a:443 HTTP/1.1", "Host: a", "", ""] as const;

test(
  "the connection of a CONNECT is closed, even if its client leaves its half open",
  IN_TIME,
  async (t) => {
    const { port } = await serve(t, rows);
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    t.after(() => socket.destroy());
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => {}); // the server's end is gone, and resets it
    const writeOn = () => socket.write("more", (error) => void (error ?? setImmediate(writeOn)));
    socket.on("end", writeOn);
    socket.resume();
    socket.write(CONNECT.join("\r\n"));
    await closed;
  },
);

test(
  "the connection of a CONNECT is closed when its client reads no answers",
  IN_TIME,
  async (t) => {
    const sockets: Socket[] = [];
    const { bound, close } = await listen(
      ({ socket }, response) => {
        sockets.push(socket);
        response.end();
        response.once("finish", () => {
          while (socket.writableLength === 0) socket.write(Buffer.alloc(1 << 20)); // the system takes no more
          client.write(CONNECT.join("\r\n"));
        });
      },
      { host: "127.0.0.1", port: 0 },
      () => "id",
    );
    t.after(close);
    const client = connect(bound.port, "127.0.0.1").pause();
    t.after(() => client.destroy());
    client.on("error", () => {}); // the server resets it
    client.write(["GET / HTTP/1.1", "Host: a", "", ""].join("\r\n"));
    await until(() => sockets[0]?.destroyed === true);
  },
);

test("a client that resets its connection after a CONNECT does no harm", async (t) => {
  const { open } = await serve(t, rows);
  for (const turns of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const connection = open();
    connection.send(...CONNECT);
    for (let i = 0; i < turns; i++) await turn();
    connection.socket.resetAndDestroy();
    await connection.ended();
  }
  const answered = open();
  answered.send(...CONNECT);
  assertIsRefusal(await answered.next(), 405);
  answered.socket.resetAndDestroy();
  const connection = open();
  connection.send(...ALIVE);
  assert.equal((await connection.next()).status, 200);
});

test("an Upgrade header is ignored", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket"];
  connection.send("GET /alive HTTP/1.1", "Host: a", ...upgrade, "", "");
  assert.equal((await connection.next()).body, '{"alive":true}');
});

test("a client that resets its connection does no harm", async (t) => {
  const { open } = await serve(t, rows);
  for (const lines of [["GET /al"], ["GET /alive HTTP/1.1", "Host: a", "", ""], []]) {
    const connection = open();
    connection.send(...lines);
    await turn();
    connection.socket.resetAndDestroy();
    await connection.ended();
  }
  const connection = open();
  connection.send("GET /alive HTTP/1.1", "Host: a", "", "");
  assert.equal((await connection.next()).status, 200);
});

function slowRow(settles: Settle[]) {
  return route({
    ...common,
    method: "GET",
    path: "/slow",
    replies: { 200: free },
    handle: () => later((settle) => settles.push(settle)),
  });
}

test("invalid bytes after a request never produce a response that looks like its answer", async (t) => {
  const settles: Settle[] = [];
  const { open } = await serve(t, [...rows, slowRow(settles)]);
  const connection = open();
  connection.send("GET /slow HTTP/1.1", "Host: a", "", "");
  await until(() => settles.length === 1);
  connection.send("noise", "", "");
  await connection.ended();
  assert.equal(connection.rest, "");
});

test("closing answers the requests in flight, and accepts no new ones", async (t) => {
  const settles: Settle[] = [];
  const { open, port, close } = await serve(t, [...rows, slowRow(settles)]);
  const [idle, busy, unused] = [open(), open(), open()];
  idle.send("GET /alive HTTP/1.1", "Host: a", "", "");
  await idle.next();
  busy.send("GET /slow HTTP/1.1", "Host: a", "", "");
  await until(() => settles.length === 1);
  const closed = close();
  await idle.ended();
  await unused.ended();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/alive`));
  settles[0]?.(undefined, { late: true });
  assert.equal((await busy.next()).body, '{"late":true}');
  await closed;
});

test("an address that is taken rejects with Node's own code", async (t) => {
  const { port } = await serve(t, rows);
  await assert.rejects(
    listen(
      () => {},
      { host: "127.0.0.1", port },
      () => "id",
    ),
    { code: "EADDRINUSE" },
  );
});

for (const [what, lines, limits] of [
  ["headers", ["GET /alive HTTP/1.1", "Host: te"], { headersTimeout: 50 }],
  [
    "a body",
    [...POST, "Content-Length: 9", "", '{"a"'],
    { headersTimeout: 40, requestTimeout: 50 },
  ],
] as const) {
  test(`a client that stops in the middle of ${what} gets a timely refusal`, IN_TIME, async (t) => {
    const quick = { ...limits, connectionsCheckingInterval: 10 };
    const connection = (await serve(t, rows, {}, { limits: quick })).open();
    connection.send(...lines);
    assertIsRefusal(await connection.next(), 408);
  });
}
