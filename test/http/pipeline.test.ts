import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MAX_WAITING_HEADERS,
  MAX_WAITING_IN_CROWD,
  MAX_WAITING_LENGTH,
  MAX_WAITING_REQUESTS,
  MAX_WAITING_SIZE,
} from "../../src/http/pipeline.ts";
import { later, type Settle } from "../../src/http/reply.ts";
import { MOST_HEADERS } from "../../src/http/request.ts";
import { MOST_SMALL_PIECES } from "../../src/http/request-in-pieces.ts";
import { route } from "../../src/http/route.ts";
import { BEGIN_IN_A_TURN } from "../../src/http/turns-of-the-loop.ts";
import type { Connection } from "./connection.ts";
import { serve, until } from "./serve.ts";

const free = { type: "object", additionalProperties: true } as const;
const common = { surfaces: ["portal"], access: "open", summary: "s", tags: ["t"] } as const;

/** Rows that answer when the test says so, and the requests that they got. */
function slowRows() {
  const asked: { readonly body: unknown; readonly settle: Settle }[] = [];
  const replies = { 200: free };
  const rows = [
    route({
      ...common,
      method: "GET",
      path: "/slow",
      replies,
      handle: () => later((settle) => asked.push({ body: undefined, settle })),
    }),
    route({
      ...common,
      method: "POST",
      path: "/slow",
      body: free,
      replies,
      handle: ({ body }) => later((settle) => asked.push({ body, settle })),
    }),
  ];
  return { asked, rows };
}

/** Answers the first requests of a connection one after another, each when it has begun. */
async function answerEach(
  asked: ReturnType<typeof slowRows>["asked"],
  connection: Connection,
  count: number,
): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await until(() => asked.length > turn);
    asked[turn]?.settle(undefined, {});
    assert.equal((await connection.next()).status, 200);
  }
}

/** The number of responses until all are there or the connection has ended. */
async function answersOf(connection: Connection, most: number): Promise<number> {
  for (let count = 0; count < most; count++) {
    try {
      await connection.next();
    } catch {
      return count;
    }
  }
  return most;
}

const GET = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
const WORK = "GET /work HTTP/1.1\r\nHost: a\r\n\r\n";

test("a pipelined request does not begin before the previous one is answered", async (t) => {
  const { asked, rows } = slowRows();
  const { open, requests } = await serve(t, rows);
  const [eager, other] = [open(), open()];
  eager.send(GET.repeat(3));
  await until(() => asked.length === 1);
  other.send(GET); // its request came later, and the first connection does not hold it up
  await until(() => asked.length === 2);
  assert.equal(requests.length, 2);
  asked[0]?.settle(undefined, { turn: 1 });
  assert.equal((await eager.next()).body, '{"turn":1}');
  await until(() => asked.length === 3);
  asked[2]?.settle(undefined, { turn: 2 });
  assert.equal((await eager.next()).body, '{"turn":2}');
  await until(() => asked.length === 4);
  asked[3]?.settle(undefined, { turn: 3 });
  assert.equal((await eager.next()).body, '{"turn":3}');
});

for (const { name, length } of [
  { name: "short requests", length: 0 },
  { name: "requests of as many bytes as Node reads at a time", length: 65_536 },
]) {
  test(`of ${name} sent ahead, one begins in each turn of the event loop`, async (t) => {
    let turn = 0;
    const begunIn: number[] = [];
    const row = route({
      ...common,
      method: "GET",
      path: "/",
      replies: { 200: free },
      handle: () => ({ begun: begunIn.push(turn) }),
    });
    const { open } = await serve(t, [row]);
    const head = "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 00000\r\n\r\n";
    const body = "x".repeat(Math.max(0, length - head.length));
    const request = head.replace("00000", String(body.length)) + body;
    const connection = open();
    connection.send(request.repeat(16));
    await until(() => ++turn > 0 && begunIn.length === 16);
    for (let i = 1; i <= 16; i++) {
      assert.equal((await connection.next()).body, `{"begun":${i}}`);
    }
    assert.equal(new Set(begunIn).size, 16);
  });
}

test("of requests that many connections sent ahead, a few begin in each turn of the event loop", async (t) => {
  let turn = 0;
  const begunIn: number[] = [];
  const row = route({
    ...common,
    method: "GET",
    path: "/{which}",
    replies: { 200: free },
    handle: ({ params }) => ({ begun: params.which === "ahead" && begunIn.push(turn) }),
  });
  const { open } = await serve(t, [row]);
  const [first = "", ahead = ""] = ["first", "ahead"].map(
    (which) => `GET /${which} HTTP/1.1\r\nHost: a\r\n\r\n`,
  );
  const connections = Array.from({ length: 4 * BEGIN_IN_A_TURN }, () => open());
  for (const connection of connections) connection.send(first);
  for (const connection of connections) await connection.next();
  for (const connection of connections) connection.send(first + ahead.repeat(2));
  await until(() => ++turn > 0 && begunIn.length === 2 * connections.length);
  for (const [i, at] of begunIn.entries()) assert.notEqual(at, begunIn[i + BEGIN_IN_A_TURN]);
});

for (const { name, ahead } of [
  { name: "request after request", ahead: 1 },
  { name: "requests ahead", ahead: 16 },
]) {
  test(`clients that send ${name} do not hold up connections that arrive`, async (t) => {
    const row = { ...common, method: "GET", path: "/work", replies: { 200: free } } as const;
    const handle = () => {
      const end = performance.now() + 0.5; // the length of a slice
      while (performance.now() < end);
      return {};
    };
    const { open, requests } = await serve(t, [route({ ...row, handle })]);
    const busy = Array.from({ length: 60 }, () => open());
    for (const { socket } of busy) socket.on("data", () => socket.write(WORK));
    for (const connection of busy) connection.send(WORK.repeat(ahead));
    await until(() => requests.length > 600);
    const before = requests.length;
    const arriving = Array.from({ length: 50 }, () => open());
    for (const connection of arriving) connection.send(WORK);
    await Promise.all(arriving.map((connection) => connection.next()));
    const begun = requests.length - before;
    assert.ok(begun < 600, `${begun} requests began before 50 connections were answered`);
  });
}

test("connections of one address do not hold up a connection of another that arrives behind them", async (t) => {
  const row = { ...common, method: "GET", path: "/work", replies: { 200: free } } as const;
  let begun = 0;
  const handle = () => {
    const end = performance.now() + 0.5;
    while (performance.now() < end);
    return { begun: ++begun };
  };
  const { open } = await serve(t, [route({ ...row, handle })]);
  for (let i = 0; i < 300; i++) open("127.0.0.2").send(WORK);
  const newcomer = open("127.0.0.3");
  newcomer.send(WORK);
  const { body } = await newcomer.next();
  assert.ok(JSON.parse(body).begun < 150, body);
});

test("behind a proxy, the requests of one address do not hold up those of another", async (t) => {
  const begun: string[] = [];
  const row = route({
    ...{ ...common, method: "GET", path: "/work", replies: { 200: free } },
    headers: { "x-forwarded-for": { type: "string" } },
    handle: ({ headers }) => {
      begun.push(headers["x-forwarded-for"] ?? "");
      const end = performance.now() + 0.5;
      while (performance.now() < end);
      return {};
    },
  });
  const { open } = await serve(t, [row], { trustedProxies: 1 }, { trustProxy: 1 });
  const from = (address: string): string =>
    WORK.replace("\r\n", `\r\nX-Forwarded-For: ${address}\r\n`);
  const many = Array.from({ length: 100 }, () => open());
  for (const { socket } of many) socket.on("data", () => socket.write(from("192.0.2.1")));
  for (const connection of many) connection.send(from("192.0.2.1"));
  const other = open();
  const waited: number[] = [];
  for (let i = 0; i < 20; i++) {
    await until(() => begun.length > 200 * (i + 1));
    for (let opened = 0; opened < 20; opened++) open();
    const before = begun.length;
    other.send(from("192.0.2.2"));
    await other.next();
    waited.push(begun.indexOf("192.0.2.2", before) - before);
  }
  const most = waited.sort((a, b) => a - b)[10] ?? 0;
  assert.ok(most < 40, `${waited}`);
});

test("a pipelined body that arrives after its headers is read in its turn", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const connection = open();
  const head = "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  connection.send(`${GET}${head}Content-Length: 12\r\n\r\n{"a"`);
  await until(() => asked.length === 1);
  connection.send(':"late"}');
  asked[0]?.settle(undefined, {});
  assert.equal((await connection.next()).status, 200);
  await until(() => asked.length === 2);
  assert.deepEqual(asked[1]?.body, { a: "late" });
  asked[1]?.settle(undefined, {});
  assert.equal((await connection.next()).status, 200);
});

for (const { name, bytes } of [
  { name: "an invalid body", bytes: "no length\r\n" },
  { name: "too many small chunks", bytes: "1\r\n \r\n".repeat(MOST_SMALL_PIECES + 1) },
]) {
  test(`${name} of a pipelined request is not answered in place of the one before`, async (t) => {
    const { asked, rows } = slowRows();
    const { open, summaries } = await serve(t, rows);
    const eager = open();
    eager.send(GET);
    await until(() => asked.length === 1);
    eager.send("POST /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    eager.send(bytes);
    await eager.ended();
    assert.equal(eager.rest, "");
    asked[0]?.settle(undefined, {});
    await until(() => summaries.length === 2);
    assert.deepEqual(
      summaries.map(({ status }) => status),
      [499, 499],
    );
  });
}

const MANY = "a:\r\n".repeat(MOST_HEADERS + 1);

test("a request with too many headers is the last one of its connection", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  for (const behind of ["", GET]) {
    const connection = open();
    connection.send(`GET /slow HTTP/1.1\r\nHost: a\r\n${MANY}\r\n${behind}`);
    const refusal = await connection.next();
    assert.equal(refusal.status, 431);
    assert.equal(refusal.headers.get("connection"), "close");
    await connection.ended();
  }
  assert.equal(asked.length, 0);
});

for (const { name, bytes } of [
  { name: "headers", bytes: `GET /slow HTTP/1.1\r\nHost: a\r\n${MANY}\r\n` },
  {
    name: "trailers",
    bytes: `POST /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${MANY}\r\n`,
  },
]) {
  test(`a pipelined request with too many ${name} ends the connection`, async (t) => {
    const { asked, rows } = slowRows();
    const { open, summaries } = await serve(t, rows);
    const eager = open();
    eager.send(GET);
    await until(() => asked.length === 1);
    eager.send(bytes);
    await eager.ended();
    asked[0]?.settle(undefined, {});
    // From Node 22 on, Node itself refuses the second request, which then is not recorded.
    await until(() => summaries.length > 0);
    assert.ok(summaries.every(({ status }) => status === 499));
    assert.equal(asked.length, 1);
  });
}

test("one header of waiting requests beyond the limit ends the connection", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const full = `GET /slow HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(MOST_HEADERS - 1)}\r\n`;
  const count = MAX_WAITING_HEADERS / MOST_HEADERS;
  const patient = open();
  patient.send(GET, full.repeat(count));
  await answerEach(asked, patient, 1 + count);
  const eager = open();
  eager.send(GET, full.repeat(count), GET);
  await eager.ended();
});

test("the trailers of the requests before count with the headers of waiting requests", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const head = "GET /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  const full = `${head}${"a:\r\n".repeat(MOST_HEADERS - 2)}\r\n`; // with its two headers 100
  const count = MAX_WAITING_HEADERS / MOST_HEADERS;
  const patient = open();
  patient.send(full.repeat(count));
  await answerEach(asked, patient, count);
  const eager = open();
  eager.send(full.repeat(count + 2));
  await eager.ended();
});

test("targets and headers of waiting requests beyond the length end the connection", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const long = `GET /slow?${"x".repeat(15_000)} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const count = Math.floor(MAX_WAITING_LENGTH / 15_100);
  const patient = open();
  patient.send(GET, long.repeat(count));
  await answerEach(asked, patient, 1 + count);
  const eager = open();
  eager.send(GET, long.repeat(count + 1));
  await eager.ended();
});

test("one pipelined request beyond the limit ends the connection", async (t) => {
  const { asked, rows } = slowRows();
  const { open, requests, summaries } = await serve(t, rows);
  const patient = open();
  patient.send(GET.repeat(1 + MAX_WAITING_REQUESTS));
  await until(() => asked.length === 1);
  await answerEach(asked, patient, 1 + MAX_WAITING_REQUESTS);
  const before = [requests.length, asked.length, summaries.length] as const;
  const greedy = open();
  const sent = 2 + MAX_WAITING_REQUESTS;
  greedy.send(GET.repeat(sent));
  await greedy.ended();
  await until(() => requests.length === before[0] + sent);
  assert.equal(asked.length, before[1] + 1);
  assert.equal(summaries.length, before[2] + sent - 1); // all but the one that is being carried out
});

test("while many new connections wait, few requests may be sent ahead", async (t) => {
  const { rows } = slowRows();
  const { open } = await serve(t, rows);
  const NONE = "GET /none HTTP/1.1\r\nHost: a\r\n\r\n";
  const sendAhead = (waiting: number): Promise<number> => {
    const connection = open();
    connection.send(NONE.repeat(1 + waiting));
    return answersOf(connection, 1 + waiting);
  };
  // Together they are smaller than `MAX_WAITING_SIZE`.
  const all = Array.from({ length: 300 }, (_, i) => sendAhead(MAX_WAITING_IN_CROWD + (i % 2)));
  const answers = await Promise.all(all);
  const patient = answers.filter((_, i) => i % 2 === 0);
  const greedy = answers.filter((_, i) => i % 2 === 1);
  assert.ok(patient.every((count) => count === 1 + MAX_WAITING_IN_CROWD));
  const cut = greedy.filter((count) => count < 2 + MAX_WAITING_IN_CROWD).length;
  assert.ok(cut > 0 && cut < greedy.length, `${cut} of ${greedy.length} were cut`);
});

test("of the requests that were read with the one beyond the limit none begins", async (t) => {
  const { asked, rows } = slowRows();
  const { open, requests, summaries } = await serve(t, rows);
  const [greedy, other] = [open(), open()];
  greedy.send(GET.repeat(1_500)); // less than Node reads at a time
  await greedy.ended();
  await until(() => summaries.length > MAX_WAITING_REQUESTS);
  other.send(GET); // it comes after all of them
  await until(() => asked.length === 2);
  assert.equal(requests.length, 2 + MAX_WAITING_REQUESTS + 1);
});

test("requests with an expectation that cannot be met wait for their turn, too, up to the limit", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const expecting = "GET /slow HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n";
  const patient = open();
  patient.send(GET + expecting.repeat(MAX_WAITING_REQUESTS));
  await until(() => asked.length === 1);
  asked[0]?.settle(undefined, {});
  assert.equal((await patient.next()).status, 200);
  assert.equal((await patient.next()).status, 417);
  await patient.ended();
  const greedy = open();
  greedy.send(GET + expecting.repeat(1 + MAX_WAITING_REQUESTS));
  await greedy.ended(); // the first request is not answered yet
  assert.equal(greedy.rest, "");
  assert.equal(asked.length, 2);
});

test("requests that wait when their connection is cut are recorded as 499, and not carried out", async (t) => {
  const { asked, rows } = slowRows();
  const { open, summaries } = await serve(t, rows);
  const connection = open();
  const post = "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  connection.send(`${GET}${GET}${post}Content-Length: 2\r\n\r\n{}GET /none HTTP/1.1\r\n\r\n`);
  await until(() => asked.length === 1);
  connection.socket.destroy();
  await until(() => summaries.length === 3);
  asked[0]?.settle(undefined, {});
  await until(() => summaries.length === 4);
  assert.equal(asked.length, 1);
  assert.deepEqual(
    summaries.map(({ method, route, status }) => [method, route, status]),
    [
      ["GET", "/slow", 499],
      ["POST", "/slow", 499],
      ["GET", undefined, 499],
      ["GET", "/slow", 499],
    ],
  );
});

test("waiting requests of a client that has left take no error each, and no look-up of a long path", async (t) => {
  const { asked, rows } = slowRows();
  const { open, requests, summaries } = await serve(t, rows);
  const connection = open();
  connection.send(GET + GET.repeat(2) + GET.replace("/slow", `/${"%41".repeat(5_000)}`));
  await until(() => asked.length === 1);
  connection.socket.destroy();
  await until(() => summaries.length === 3);
  assert.equal(new Set(summaries.map(({ error }) => error)).size, 1);
  assert.ok(requests.every(({ errored }) => errored === null));
});

test("beyond the size of all waiting requests, those of the address with the most are cut", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const padding = "x".repeat(MAX_WAITING_LENGTH / MAX_WAITING_REQUESTS - 50);
  const large = `GET /slow HTTP/1.1\r\nHost: a\r\nX: ${padding}\r\n\r\n`;
  const each = large.length * MAX_WAITING_REQUESTS;
  const greedy = Array.from({ length: Math.ceil(MAX_WAITING_SIZE / each) }, () => open());
  const modest = open("127.0.0.2");
  modest.send(GET + large.repeat(3));
  await until(() => asked.length === 1);
  for (const connection of greedy) connection.send(GET + large.repeat(MAX_WAITING_REQUESTS));
  await until(() => asked.length === 1 + greedy.length);
  await Promise.race(greedy.map((connection) => connection.ended()));
  for (let turn = 0; turn <= 3; turn++) {
    const { length } = asked;
    asked[turn === 0 ? 0 : length - 1]?.settle(undefined, {});
    assert.equal((await modest.next()).status, 200);
    if (turn < 3) await until(() => asked.length > length);
  }
});

test("a body that waits for its turn counts with its length", async (t) => {
  const { asked, rows } = slowRows();
  const { open } = await serve(t, rows);
  const head = "POST /slow HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const bodies = ["Content-Length: 900000", "Transfer-Encoding: chunked"];
  const most = Math.ceil(MAX_WAITING_SIZE / 65_536);
  const greedy = Array.from({ length: most }, (_, i) => {
    const connection = open();
    connection.send(`${GET}${head}${bodies[i % 2] ?? ""}\r\n\r\n`);
    return connection;
  });
  await Promise.race(greedy.map((connection) => connection.ended()));
  assert.ok(asked.length <= most);
});
