import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { BodyBudget } from "../../../src/http/bodies/body-budget.ts";
import { later, type Settle, TextReply } from "../../../src/http/reply.ts";
import { MOST_SMALL_PIECES } from "../../../src/http/request-in-pieces.ts";
import { MOST_HEADERS } from "../../../src/http/request.ts";
import { route } from "../../../src/http/route.ts";
import { serve, until } from "../serve.ts";

const free = { type: "object", additionalProperties: true } as const;
const common = { surfaces: ["portal"], access: "open", summary: "s", tags: ["t"] } as const;

test("the body of a request that takes none is dropped before the answer", async (t) => {
  const asked: Settle[] = [];
  const slow = route({
    ...{ ...common, method: "GET", path: "/slow", replies: { 200: free } },
    handle: () => later((settle) => asked.push(settle)),
  });
  const { open, requests } = await serve(t, [slow]);
  const connection = open();
  const body = "x".repeat(1 << 20);
  connection.send(`GET /slow HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await until(() => requests[0]?.complete === true);
  assert.equal(requests[0]?.readableLength, 0);
  asked[0]?.(undefined, {});
  assert.equal((await connection.next()).body, "{}");
});

const CHUNKS = "1\r\n \r\n".repeat(MOST_SMALL_PIECES + 1);
const FRAMING = "Host: a\r\nTransfer-Encoding: chunked";

for (const { name, head, status } of [
  { name: "an answer to OPTIONS", head: `OPTIONS /late HTTP/1.1\r\n${FRAMING}`, status: 204 },
  { name: "a page", head: `GET /missing HTTP/1.1\r\n${FRAMING}`, status: 404 },
]) {
  test(`the small chunks of a body after ${name} are counted`, async (t) => {
    const missingPage = () => new TextReply(404, "text/html", "none", []);
    const late = route({
      ...{ ...common, method: "GET", path: "/late", replies: { 200: free } },
      handle: () => ({}),
    });
    const { open } = await serve(t, [late], { missingPage });
    const connection = open();
    connection.send(`${head}\r\n\r\n`);
    assert.equal((await connection.next()).status, status);
    connection.send(CHUNKS);
    assert.equal((await connection.next()).status, 400);
    await connection.ended();
  });
}

const TRAILERS = `0\r\n${"a: b\r\n".repeat(MOST_HEADERS + 1)}\r\n`;
const POST = `POST /set HTTP/1.1\r\n${FRAMING}\r\nContent-Type: application/json\r\n`;
const sized = (bytes: Buffer): string =>
  `${bytes.length.toString(16)}\r\n${bytes.toString("latin1")}\r\n`;

for (const { name, coding, rest } of [
  { name: "too many small chunks", coding: "", rest: `${CHUNKS}0\r\n\r\n` },
  { name: "too many small chunks of gzip", coding: "gzip", rest: `${CHUNKS}0\r\n\r\n` },
  { name: "too many trailers", coding: "", rest: TRAILERS },
  { name: "too many trailers after gzip", coding: "gzip", rest: TRAILERS },
]) {
  test(`a request with ${name} is not carried out, and holds no room for its body`, async (t) => {
    let handled = 0;
    const set = route({
      ...{ ...common, method: "POST", path: "/set", body: free, replies: { 200: free } },
      handle: () => ({ handled: ++handled }),
    });
    const bodyBudget = new BodyBudget(64 * 1024); // room for one gzip body
    const { open } = await serve(t, [set], { bodyBudget });
    const json = Buffer.from("{}");
    const body = coding ? gzipSync(json) : json;
    const refused = open();
    refused.socket.write(
      `${POST}Content-Encoding: ${coding}\r\n\r\n${sized(body)}${rest}`,
      "latin1",
    );
    await refused.ended();
    const next = open();
    next.socket.write(
      `${POST}Content-Encoding: gzip\r\n\r\n${sized(gzipSync(json))}0\r\n\r\n`,
      "latin1",
    );
    const { status, body: answer } = await next.next("POST");
    assert.deepEqual([status, answer], [200, '{"handled":1}']);
  });
}
