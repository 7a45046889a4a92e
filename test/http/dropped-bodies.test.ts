import assert from "node:assert/strict";
import { test } from "node:test";
import { later, type Settle } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { serve, until } from "./serve.ts";

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
