/** Tests greedy clients beside others. Each loopback address is a separate client. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { BodyBudget } from "../../src/http/bodies/body-budget.ts";
import { later, stream, text, type Settle } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { UnreadAnswers } from "../../src/http/unread-answers.ts";
import { serve, until, type Served } from "./serve.ts";

const KIB = 1024;
const ATTACKER = "127.0.0.2";
const VICTIM = "127.0.0.3";
const free = { type: "object", additionalProperties: true } as const;
const common = {
  surfaces: ["public", "v1"],
  access: "user",
  keys: "audit.read",
  summary: "s",
  tags: ["t"],
} as const;

const echo = route({
  ...common,
  method: "POST",
  role: "operator",
  path: "/echo",
  body: free,
  replies: { 200: free },
  handle: () => ({}),
});

/** A JSON text of exactly `bytes` bytes. */
function jsonOf(bytes: number): string {
  return `{"a":"${"x".repeat(bytes - 8)}"}`;
}

/** Sends some bytes of a body in pieces, and then nothing. */
async function stall({ open, budget }: Served, bytes: number, from: string) {
  const connection = open(from);
  const held = budget.held;
  connection.send(
    "POST /api/public/echo HTTP/1.1",
    "Host: test",
    "Content-Type: application/json",
    `Content-Length: ${bytes + 1}`,
    "",
    "",
  );
  connection.socket.write("x".repeat(bytes));
  await until(() => budget.held >= held + bytes);
  return connection;
}

/** Sends a body in two pieces, so that it needs room of its own. */
async function postSlowly(served: Served, path: string, body: Buffer, ...headers: string[]) {
  const connection = served.open(VICTIM);
  const before = served.requests.length;
  const head = [`POST ${path} HTTP/1.1`, "Host: test", "Content-Type: application/json"];
  connection.send(...head, `Content-Length: ${body.length}`, ...headers, "", "");
  await until(() => served.requests.length > before);
  connection.socket.write(body.subarray(0, 10));
  await turn();
  connection.socket.write(body.subarray(10));
  return connection.next();
}

for (const [what, body, headers] of [
  ["a body", Buffer.from(jsonOf(100 * KIB)), []],
  [
    "a gzip body",
    gzipSync(`{"a":"${randomBytes(50 * KIB).toString("hex")}"}`),
    ["Content-Encoding: gzip"],
  ],
] as const) {
  test(`${what} finds room beside a client that holds all of it; that client's newest is refused`, async (t) => {
    const budget = new BodyBudget(600 * KIB);
    const served = await serve(t, [echo], { bodyBudget: budget });
    const [older, newer] = [
      await stall(served, 300 * KIB, ATTACKER),
      await stall(served, 250 * KIB, ATTACKER),
    ];
    const { status } = await postSlowly(served, "/api/public/echo", body, ...headers);
    assert.equal(status, 200);
    const refused = await newer.next();
    assert.equal(refused.status, 503);
    assert.match(refused.body, /^\{"error":"Too many large bodies/);
    assert.equal(older.socket.destroyed, false);
    assert.equal(older.rest, "");
  });
}

test("the client that holds the most is refused, and others keep their room", async (t) => {
  const served = await serve(t, [echo], { bodyBudget: new BodyBudget(600 * KIB) });
  const small = await stall(served, 100 * KIB, VICTIM);
  await stall(served, 400 * KIB, ATTACKER);
  const more = served.open(ATTACKER);
  more.post("/api/public/echo", jsonOf(300 * KIB));
  assert.equal((await more.next()).status, 503);
  assert.equal(small.rest, "");
});

test("a waiting body can lose its room too, and the turns continue", async (t) => {
  const settles: Settle[] = [];
  const slow = route({
    ...common,
    method: "POST",
    role: "operator",
    path: "/slow",
    body: free,
    replies: { 200: free },
    holdsBody: true,
    handle: () => later((settle) => settles.push(settle)),
  });
  const budget = new BodyBudget(1000 * KIB, 700 * KIB);
  const served = await serve(t, [echo, slow], { bodyBudget: budget });
  const [working, waiting] = [served.open(ATTACKER), served.open(ATTACKER)];
  working.post("/api/public/slow", jsonOf(400 * KIB));
  await until(() => settles.length === 1);
  waiting.post("/api/public/slow", jsonOf(950 * KIB));
  await until(() => budget.held >= 950 * KIB);
  const { status } = await postSlowly(served, "/api/public/echo", Buffer.from(jsonOf(80 * KIB)));
  assert.equal(status, 200);
  assert.equal((await waiting.next()).status, 503);
  settles[0]?.(undefined, {});
  assert.equal((await working.next()).status, 200);
  await until(() => budget.inWork === 0 && budget.held === 0);
});

/** Requests a long response and does not read it. */
function openUnread({ open }: Served, path: string, from: string, organization: string): void {
  const connection = open(from);
  connection.socket.pause();
  connection.send(`GET ${path} HTTP/1.1`, "Host: test", `X-API-Key: ${organization}`, "", "");
}

const LONG = "x".repeat(8 << 20);

test("an export continues while another client requests pages and does not read them", async (t) => {
  let goOn = (): void => {};
  const page = route({
    ...common,
    method: "GET",
    path: "/page",
    replies: { 200: "text/plain" },
    handle: () => text(200, "text/plain", LONG),
  });
  const rows = route({
    ...common,
    method: "GET",
    path: "/export",
    replies: { 200: "text/plain" },
    handle: () =>
      stream("text/plain", async (output) => {
        output.write("x".repeat(4 << 20));
        await new Promise<void>((resolve) => (goOn = resolve));
        output.write("the end");
      }),
  });
  const unreadAnswers = new UnreadAnswers(24 << 20);
  const served = await serve(t, [page, rows], {
    unreadAnswers,
    resolveCaller: (_access, _surface, { apiKey = "default" }) => ({
      organization: apiKey,
      actor: undefined,
    }),
  });
  const answer = await slowReader(t, served, "/api/v1/export");
  for (let i = 0; i < 12; i++) {
    openUnread(served, "/api/public/page", ATTACKER, "default");
    await until(() => served.requests.length === i + 2);
  }
  const cut = served.requests.filter(({ socket }) => socket.destroyed).length;
  assert.ok(cut >= 8, `${cut} of the pages were cut`);
  assert.ok(unreadAnswers.bytes <= 24 << 20);
  goOn();
  let read = "";
  for await (const chunk of answer) read = `${read}${String(chunk)}`.slice(-7);
  assert.equal(read, "the end");
});

/** Begins to read a response, and leaves the rest for later. */
async function slowReader(t: TestContext, { url }: Served, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { "x-api-key": "acme" };
    const sent = request(url + path, { agent: false, headers, localAddress: VICTIM });
    t.after(() => sent.destroy());
    sent.once("error", reject);
    sent.once("response", (answer) => resolve(answer.pause()));
    sent.end();
  });
}
