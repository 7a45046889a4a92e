import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { BadInput, Conflict, Unauthenticated } from "../../../src/core/errors.ts";
import { BodyBudget } from "../../../src/http/bodies/body-budget.ts";
import type { ListenerParts } from "../../../src/http/listener-parts.ts";
import { reply } from "../../../src/http/reply.ts";
import { route, type CustomBody } from "../../../src/http/route.ts";
import type { Connection, WireAnswer } from "../connection.ts";
import { serve, until, type Served } from "../serve.ts";

const KIB = 1024;
const MAX = 1 << 20;

const ROW = { surfaces: ["portal"], access: "open", summary: "s", tags: ["t"] } as const;

const size: CustomBody<number> = {
  schema: { type: "object" },
  read: (value) => JSON.stringify(value).length,
};

const echo = {
  method: "POST",
  path: "/echo",
  ...ROW,
  body: { type: "object", additionalProperties: true },
  replies: { 200: { type: "object", additionalProperties: true } },
  handle: ({ body }: { readonly body: Readonly<Record<string, unknown>> }) => body,
} as const;

const rows = [
  route(echo),
  route({ ...echo, path: "/report", report: true }),
  route({
    method: "POST",
    path: "/size",
    ...ROW,
    body: size,
    replies: { 201: { type: "object" } },
    handle: ({ body }) => reply(201, { size: body }),
  }),
  route({
    method: "POST",
    path: "/conflict",
    ...ROW,
    body: { type: "object", additionalProperties: true },
    replies: { 201: { type: "object" } },
    async handle() {
      await turn();
      throw new Conflict("There already");
    },
  }),
  route({
    method: "GET",
    path: "/alive",
    ...ROW,
    replies: { 201: { type: "object" } },
    handle: () => reply(201, { alive: true }),
  }),
];

const start = (t: TestContext, changes: Partial<ListenerParts<unknown>> = {}) =>
  serve(t, rows, { maxBodyBytes: MAX, ...changes });

const JSON_TYPE = { "content-type": "application/json" };

function post(served: Served, path: string, init: RequestInit): Promise<Response> {
  return fetch(served.url + path, { method: "POST", headers: JSON_TYPE, ...init });
}

/** A JSON text of exactly `bytes` bytes. */
function jsonOf(bytes: number): string {
  return `{"a":"${"x".repeat(bytes - 8)}"}`;
}

function errorIn({ body, headers }: WireAnswer): string {
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  return (JSON.parse(body) as { error: string }).error;
}

/** Checks that the connection is still in step: the next request on it is answered. */
async function assertInStep(connection: Connection): Promise<void> {
  connection.send("GET /alive HTTP/1.1", "Host: test", "", "");
  const { status, body } = await connection.next();
  assert.deepEqual([status, body], [201, '{"alive":true}']);
  assert.equal(connection.rest, "");
}

async function assertCut(connection: Connection, answer: WireAnswer): Promise<void> {
  assert.equal(answer.headers.get("connection"), "close");
  await connection.ended();
}

function chunked(connection: Connection, path: string, ...headers: readonly string[]): void {
  connection.send(
    `POST ${path} HTTP/1.1`,
    "Host: test",
    "Content-Type: application/json",
    "Transfer-Encoding: chunked",
    ...headers,
    "",
    "",
  );
}

const chunk = (body: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`${Buffer.byteLength(body).toString(16)}\r\n`),
    Buffer.from(body),
    Buffer.from("\r\n"),
  ]);

for (const type of [
  "application/json",
  "Application/JSON",
  "application/json;charset=utf-8",
  'application/json ; charset="UTF-8"; x=y',
  "application/json;charset=latin1",
  "application/json;",
]) {
  test(`the type ${type} is JSON`, async (t) => {
    const served = await start(t);
    const response = await post(served, "/echo", {
      body: '{"a":"ä"}',
      headers: { "content-type": type },
    });
    assert.deepEqual(await response.json(), { a: "ä" });
  });
}

for (const type of [
  undefined,
  "",
  "text/plain",
  "text/json",
  "application/jsonx",
  "application/x-www-form-urlencoded",
  "application/json, text/plain",
  "application/problem+json",
  "multipart/form-data; boundary=application/json",
  "json",
]) {
  test(`the type ${type ?? "that is not given"} is a 415, and the connection stays in step`, async (t) => {
    const { open } = await start(t);
    const connection = open();
    const lines = type === undefined ? [] : [`Content-Type: ${type}`];
    connection.send("POST /echo HTTP/1.1", "Host: test", "Content-Length: 2", ...lines, "", "{}");
    const answer = await connection.next();
    assert.equal(answer.status, 415);
    assert.equal(errorIn(answer), "Content-Type: expected application/json");
    await assertInStep(connection);
  });
}

for (const [what, lines, status] of [
  ["no body at all", [], 400],
  ["an empty body", ["Content-Length: 0"], 400],
  ["an empty body of JSON", ["Content-Length: 0", "Content-Type: application/json"], 400],
  ["an empty body of another type", ["Content-Length: 0", "Content-Type: text/plain"], 415],
] as const) {
  test(`${what} is a ${status}, and the connection stays in step`, async (t) => {
    const { open } = await start(t);
    const connection = open();
    connection.send("POST /echo HTTP/1.1", "Host: test", ...lines, "", "");
    const answer = await connection.next();
    assert.equal(answer.status, status);
    assert.match(
      errorIn(answer),
      status === 400 ? /^A JSON body is required, {}/ : /^Content-Type/,
    );
    await assertInStep(connection);
  });
}

test("an empty chunked body, and an empty gzip one, are a 400", async (t) => {
  const { open } = await start(t);
  const connection = open();
  chunked(connection, "/echo");
  connection.send("0", "", "");
  const answer = await connection.next();
  assert.equal(answer.status, 400);
  assert.equal(errorIn(answer), "A JSON body is required, {} at least");
  await assertInStep(connection);
  connection.post("/echo", gzipSync(""), "Content-Encoding: gzip");
  const inflated = await connection.next();
  assert.equal(errorIn(inflated), "A JSON body is required, {} at least");
  await assertInStep(connection);
});

for (const [what, body, error] of [
  ["malformed JSON", "{", "Malformed JSON at line 1, column 2: "],
  ["two values", "{}{}", "Malformed JSON at line 1, column 3: "],
  ["blanks only", "  ", "Malformed JSON at line 1, column 3: "],
  ["a value that is no object", "[]", "The body: expected a JSON object"],
  ["null", "null", "The body: expected a JSON object"],
  ["nesting that is too deep", `${"[".repeat(65)}${"]".repeat(65)}`, "The body nests deeper"],
  [
    "bytes that are not UTF-8",
    Buffer.from('{"a":"\xff"}', "latin1"),
    "The body is not valid UTF-8",
  ],
  ["half of a UTF-8 character", Buffer.from('{"a":"ä"}').subarray(0, 7), "The body is not valid"],
  ["an encoded surrogate", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "The body is not valid"],
  ["UTF-16", Buffer.from("\ufeff{}", "utf16le"), "The body is not valid UTF-8"],
] as const) {
  test(`${what} is a 400, whole, in pieces and as gzip, and the connection stays in step`, async (t) => {
    const { open } = await start(t);
    const connection = open();
    const bytes = Buffer.from(body);
    const check = async () => {
      const answer = await connection.next();
      assert.equal(answer.status, 400);
      assert.ok(errorIn(answer).startsWith(error), errorIn(answer));
      await assertInStep(connection);
    };
    connection.post("/echo", bytes);
    await check();
    chunked(connection, "/echo");
    for (let i = 0; i < bytes.length; i++) connection.socket.write(chunk(bytes.subarray(i, i + 1)));
    connection.send("0", "", "");
    await check();
    connection.post("/echo", gzipSync(bytes), "Content-Encoding: gzip");
    await check();
  });
}

const LONE = String.raw`{"a":[{"b":"\u0061\ude00"}]}`;

test("an unpaired surrogate is refused with its place; in a report it becomes U+FFFD", async (t) => {
  const served = await start(t);
  for (const [body, place] of [
    [LONE, "a[0].b"],
    [String.raw`{"a":{"\ud800":1}}`, "a"],
    [String.raw`"\ud83d"`, "The body"],
  ] as const) {
    const answer = await post(served, "/echo", { body });
    const error = `${place}: expected Unicode text, found an unpaired surrogate`;
    assert.deepEqual([answer.status, await answer.json()], [400, { error }]);
  }
  const pair = await post(served, "/echo", { body: String.raw`{"a":"\ud83d\ude00 \\ud800"}` });
  assert.deepEqual(await pair.json(), { a: "😀 \\ud800" });
  const report = await post(served, "/report", { body: LONE });
  assert.deepEqual(await report.json(), { a: [{ b: "a\ufffd" }] });
});

test("a large body that was read whole keeps the connection, for any answer", async (t) => {
  const { open } = await start(t);
  const connection = open();
  for (const [path, body, status] of [
    ["/echo", `${jsonOf(300 * KIB)}!`, 400],
    ["/conflict", jsonOf(300 * KIB), 409],
    ["/echo", `[${"1,".repeat(150 * KIB)}1]`, 400],
    ["/size", jsonOf(300 * KIB), 201],
  ] as const) {
    connection.post(path, body);
    const answer = await connection.next();
    assert.equal(answer.status, status);
    assert.notEqual(answer.headers.get("connection"), "close", path);
    await assertInStep(connection);
  }
});

test("a body that arrives in any pieces is read whole", async (t) => {
  const served = await start(t);
  const connection = served.open();
  const text = JSON.stringify({
    a: randomBytes(100 * KIB).toString("base64"),
    b: "€😀".repeat(999),
  });
  const bytes = Buffer.from(text);
  for (const size of [64, 65, 1023, 1024, 1025, 65_536, bytes.length]) {
    chunked(connection, "/echo");
    const pieces: Buffer[] = [];
    for (let i = 0; i < bytes.length; i += size) pieces.push(chunk(bytes.subarray(i, i + size)));
    connection.socket.write(Buffer.concat(pieces));
    connection.send("0", "", "");
    assert.equal((await connection.next()).body, text, `${size} at a time`);
  }
  assert.equal(served.budget.held, 0);
});

test("gzip is inflated, in any letter case, and with several members", async (t) => {
  const { open } = await start(t);
  const connection = open();
  const text = jsonOf(200 * KIB);
  const members = Buffer.concat([gzipSync(text.slice(0, 999)), gzipSync(text.slice(999))]);
  for (const [encoding, bytes] of [
    ["gzip", gzipSync(text)],
    ["GZip", gzipSync(text)],
    [" gzip ", members],
    ["identity", Buffer.from(text)],
    ["", Buffer.from(text)],
  ] as const) {
    connection.post("/echo", bytes, `Content-Encoding: ${encoding}`);
    const { status, body } = await connection.next();
    assert.equal(status, 200, encoding);
    assert.equal(body, text);
  }
  chunked(connection, "/echo", "Content-Encoding: gzip");
  const bytes = gzipSync(text);
  for (let i = 0; i < bytes.length; i += 11)
    connection.socket.write(chunk(bytes.subarray(i, i + 11)));
  connection.send("0", "", "");
  assert.equal((await connection.next()).body, text);
});

const good = gzipSync(JSON.stringify({ a: randomBytes(300).toString("hex") }));
const badSum = Buffer.from(good);
badSum.writeUInt32LE(0, badSum.length - 8);
for (const [what, bytes] of [
  ["text", Buffer.from('{"a":1}')],
  ["a gzip that was cut", good.subarray(0, -9)],
  ["a gzip without its sum", good.subarray(0, -8)],
  ["the first byte of a gzip", good.subarray(0, 1)],
  ["a gzip with a wrong sum", badSum],
  ["a gzip with noise inside", Buffer.concat([good.subarray(0, 20), Buffer.alloc(200, 0xff)])],
] as const) {
  test(`${what} sent as gzip is a 400, and the connection stays in step`, async (t) => {
    const { open, budget } = await start(t);
    const connection = open();
    for (let i = 0; i < 2; i++) {
      connection.post("/echo", bytes, "Content-Encoding: gzip");
      const answer = await connection.next();
      assert.equal(answer.status, 400);
      assert.equal(errorIn(answer), "The body is not valid gzip");
      await assertInStep(connection);
    }
    assert.equal(budget.held, 0);
  });
}

for (const encoding of ["br", "deflate", "zstd", "gzip, gzip", "gzip, br", "nonsense"]) {
  test(`the encoding ${encoding} is a 415, and the connection stays in step`, async (t) => {
    const { open } = await start(t);
    const connection = open();
    connection.post("/echo", "{}", `Content-Encoding: ${encoding}`);
    const answer = await connection.next();
    assert.equal(answer.status, 415);
    assert.equal(errorIn(answer), "Content-Encoding: expected gzip, or none");
    await assertInStep(connection);
  });
}

test("a body at the limit is read, and one byte more is a 413, in every way of sending", async (t) => {
  const served = await start(t);
  const status = async (body: string | Buffer | ReadableStream, encoding = "identity") => {
    const headers = { ...JSON_TYPE, "content-encoding": encoding };
    const init = { body, headers, duplex: "half" } as RequestInit;
    return (await post(served, "/size", init)).status;
  };
  const streamed = (text: string) => new Blob([text]).stream() as ReadableStream;
  assert.equal(await status(jsonOf(MAX)), 201);
  assert.equal(await status(jsonOf(MAX + 1)), 413);
  assert.equal(await status(streamed(jsonOf(MAX))), 201);
  assert.equal(await status(streamed(jsonOf(MAX + 1))), 413);
  assert.equal(await status(gzipSync(jsonOf(MAX)), "gzip"), 201);
  assert.equal(await status(gzipSync(jsonOf(MAX + 1)), "gzip"), 413);
  assert.equal(served.budget.held, 0);
});

test("a gzip bomb is refused long before it is inflated", async (t) => {
  const { open, budget } = await start(t);
  const connection = open();
  const bomb = gzipSync(Buffer.alloc(60 << 20, 0x20));
  connection.post("/echo", bomb, "Content-Encoding: gzip");
  const answer = await connection.next();
  assert.equal(answer.status, 413);
  assert.equal(errorIn(answer), `The body is larger than ${MAX} bytes, the most accepted here`);
  assert.equal(budget.held, 0);
  await assertInStep(connection);
});

test("a 413 can be read while the client is still sending, and the connection ends after it", async (t) => {
  const { open, budget } = await start(t);
  const size = 30 << 20;
  const body = Buffer.alloc(size, 0x20);
  for (const framing of ["Content-Length", "chunked"]) {
    const connection = open();
    if (framing === "chunked") {
      chunked(connection, "/echo");
      for (let i = 0; i < 30; i++) connection.socket.write(chunk(body.subarray(0, MAX)));
      connection.send("0", "", "");
    } else connection.post("/echo", body);
    const answer = await connection.next();
    assert.equal(answer.status, 413);
    await assertCut(connection, answer);
    assert.equal(connection.rest, "");
  }
  assert.equal(budget.held, 0);
});

test("a 401 can be read while the client is still sending, and the connection ends after it", async (t) => {
  const { open } = await start(t, {
    resolveCaller: () => Promise.reject(new Unauthenticated("Sign in")),
  });
  const connection = open();
  connection.post("/echo", Buffer.alloc(30 << 20, 0x20));
  const answer = await connection.next();
  assert.equal(answer.status, 401);
  await assertCut(connection, answer);
});

test("bytes after a refused body are never read as a request", async (t) => {
  const { open, requests } = await start(t);
  const connection = open();
  const smuggled = "GET /alive HTTP/1.1\r\nHost: test\r\n\r\n";
  connection.post("/echo", smuggled.repeat(4 * KIB), "Content-Encoding: br");
  const answer = await connection.next();
  assert.equal(answer.status, 415);
  await assertCut(connection, answer);
  assert.equal(requests.length, 1);
});

test("bodies share a budget: beyond it a body is a 503 with Retry-After", async (t) => {
  const budget = new BodyBudget(500 * KIB);
  const served = await start(t, { bodyBudget: budget });
  const slow = served.open();
  const body = jsonOf(400 * KIB);
  slow.socket.write(
    `POST /size HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  slow.socket.write(body.slice(0, -1));
  await until(() => budget.held >= body.length - 1);
  assert.ok(budget.held <= 500 * KIB);

  for (const [bytes, encoding] of [
    [Buffer.from(jsonOf(300 * KIB)), "identity"],
    [gzipSync(jsonOf(300 * KIB)), "gzip"],
  ] as const) {
    const response = await post(served, "/size", {
      body: bytes,
      headers: { ...JSON_TYPE, "content-encoding": encoding },
    });
    assert.equal(response.status, 503);
    assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.match(await response.text(), /^\{"error":"Too many large bodies/);
  }
  assert.equal((await post(served, "/size", { body: "{}" })).status, 201, "small ones still pass");

  slow.socket.write(body.slice(-1));
  assert.equal((await slow.next()).status, 201);
  assert.equal(budget.held, 0);
  assert.equal((await post(served, "/size", { body: jsonOf(300 * KIB) })).status, 201);
});

for (const [what, headers, bytes] of [
  ["body", [], Buffer.from(jsonOf(200 * KIB))],
  ["gzip body", ["Content-Encoding: gzip"], gzipSync(randomBytes(200 * KIB).toString("base64"))],
] as const) {
  test(`the room of a client that disconnects in the middle of a ${what} is freed`, async (t) => {
    const { open, budget, requests, summaries } = await start(t);
    const connections = Array.from({ length: 5 }, () => open());
    for (const connection of connections) {
      chunked(connection, "/size", ...headers);
      connection.socket.write(chunk(bytes.subarray(0, 100 * KIB)));
    }
    await until(() => budget.held >= 5 * 64 * KIB);
    for (const { socket } of connections) socket.destroy();
    await until(() => requests.length === 5 && budget.held === 0);
    assert.deepEqual(
      summaries.map(({ status }) => status),
      [499, 499, 499, 499, 499],
    );
    await assertInStep(open());
  });
}

test("a chunked body that breaks its framing is a 400 and gives its room back", async (t) => {
  const { open, budget } = await start(t);
  const connection = open();
  chunked(connection, "/size");
  connection.socket.write(chunk("x".repeat(100)));
  await until(() => budget.held > 0);
  connection.socket.write("zz\r\n");
  assert.equal((await connection.next()).status, 400);
  await connection.ended();
  assert.equal(budget.held, 0);
});

test("a body behind Expect is requested with a 100, and then read", async (t) => {
  const { open } = await start(t);
  const connection = open();
  for (let i = 0; i < 2; i++) {
    connection.send(
      "POST /echo HTTP/1.1",
      "Host: test",
      "Content-Type: application/json",
      "Content-Length: 7",
      "Expect: 100-Continue",
      "",
      "",
    );
    assert.equal((await connection.next()).status, 100);
    connection.socket.write('{"a":1}');
    assert.equal((await connection.next()).body, '{"a":1}');
  }
  await assertInStep(connection);
});

test("an invalid body behind Expect is a 400 that keeps the connection", async (t) => {
  const { open } = await start(t);
  const connection = open();
  connection.send(
    "POST /echo HTTP/1.1",
    "Host: test",
    "Content-Type: application/json",
    "Content-Length: 2",
    "Expect: 100-continue",
    "",
    "",
  );
  assert.equal((await connection.next()).status, 100);
  connection.socket.write("{!");
  assert.equal((await connection.next()).status, 400);
  await assertInStep(connection);
});

for (const [what, path, lines, status] of [
  ["unknown path", "/nowhere", ["Content-Type: application/json", "Content-Length: 7"], 404],
  ["wrong type", "/echo", ["Content-Type: text/plain", "Content-Length: 7"], 415],
  ["declared size", "/echo", ["Content-Type: application/json", `Content-Length: ${MAX + 1}`], 413],
  [
    "unknown encoding",
    "/echo",
    ["Content-Type: application/json", "Content-Length: 7", "Content-Encoding: br"],
    415,
  ],
] as const) {
  test(`a body behind Expect is refused for its ${what} without a 100`, async (t) => {
    const { open } = await start(t);
    const connection = open();
    connection.send(
      `POST ${path} HTTP/1.1`,
      "Host: test",
      "Expect: 100-continue",
      ...lines,
      "",
      "",
    );
    const answer = await connection.next();
    assert.equal(answer.status, status);
    // The client may still send the body or not, so the start of a next request is unknown.
    assert.equal(answer.headers.get("connection"), "close");
    connection.socket.end();
    await connection.ended();
  });
}

test("HTTP/1.0 has no 100, and the server never sends one", async (t) => {
  const { open } = await start(t);
  const connection = open();
  connection.send(
    "POST /echo HTTP/1.0",
    "Content-Type: application/json",
    "Content-Length: 7",
    "Expect: 100-continue",
    "",
    '{"a":1}',
  );
  const { status, body } = await connection.next();
  assert.deepEqual([status, body], [200, '{"a":1}']);
});

test("a row's own function may read the body, and refuse it", async (t) => {
  const picky = route({
    method: "POST",
    path: "/picky",
    ...ROW,
    body: {
      schema: { type: "object" },
      read(): never {
        throw new BadInput("events[3]: expected more");
      },
    },
    replies: { 201: { type: "object" } },
    handle: () => reply(201, {}),
  });
  const served = await serve(t, [picky]);
  const response = await post(served, "/picky", { body: "{}" });
  assert.equal(response.status, 400);
  assert.deepEqual(await response.json(), { error: "events[3]: expected more" });
});

for (const [version, framing] of [
  ["1.1", "gzip, chunked"],
  ["1.1", "identity, chunked"],
  ["1.0", "chunked"],
] as const) {
  test(`a body framed as ${framing} in HTTP/${version} is a 400: proxies read it differently`, async (t) => {
    const { open } = await start(t);
    const connection = open();
    const head = [`POST /size HTTP/${version}`, "Host: test", "Content-Type: application/json"];
    connection.send(...head, `Transfer-Encoding: ${framing}`, "", "2", "{}", "0", "", "");
    const answer = await connection.next();
    assert.equal(answer.status, 400);
    assert.match(answer.body, /^\{"error":"Transfer-Encoding: /);
  });
}
