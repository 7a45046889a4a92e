import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { BodyBudget } from "../../src/http/body-budget.ts";
import { later, type Settle } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { serve, until } from "./serve.ts";

const KIB = 1024;

/** A row whose requests are answered when a test says so. */
function slowRow(settles: { push(settle: Settle): void }) {
  const free = { type: "object", additionalProperties: true } as const;
  return route({
    surfaces: ["portal"],
    access: "open",
    summary: "s",
    tags: ["t"],
    method: "POST",
    path: "/slow",
    body: free,
    replies: { 200: free },
    handle: () => later((settle) => settles.push(settle)),
  });
}

/** A JSON text of so many bytes. */
function jsonOf(bytes: number): string {
  return `{"a":"${"x".repeat(bytes - 8)}"}`;
}

test("large bodies are worked on in turn, and small ones pass them by", async (t) => {
  const settles: Settle[] = [];
  const budget = new BodyBudget(8 << 20, 1 << 20);
  const { open } = await serve(t, [slowRow(settles)], { bodyBudget: budget });
  const bodies = [jsonOf(900 * KIB), jsonOf(800 * KIB), jsonOf(700 * KIB), "{}"];
  const connections = bodies.map((body) => {
    const connection = open();
    connection.post("/slow", body);
    return connection;
  });
  await until(() => settles.length === 2); // one of the large ones, and the small one
  const waiting = (): boolean => budget.held >= 1_500 * KIB;
  await until(waiting);
  assert.ok(budget.inWork >= 700 * KIB && budget.inWork <= 1 << 20, `${budget.inWork}`);
  for (let answered = 0; answered < bodies.length; answered++) {
    await until(() => settles.length > answered);
    assert.ok(budget.inWork <= 1 << 20);
    settles[answered]?.(undefined, {});
  }
  for (const connection of connections) assert.equal((await connection.next()).status, 200);
  assert.deepEqual([budget.inWork, budget.held], [0, 0]);
});

test("what inflating takes is counted too", async (t) => {
  const budget = new BodyBudget(100 * KIB);
  const served = await serve(t, [slowRow({ push: (settle) => settle(undefined, {}) })], {
    bodyBudget: budget,
  });
  const half = gzipSync("{}").subarray(0, 12);
  const head = `POST /slow HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n`;
  const slow = [1, 2].map(() => {
    const connection = served.open();
    connection.socket.write(`${head}Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n`);
    connection.socket.write(half);
    return connection;
  });
  await until(() => budget.held >= 96 * KIB);
  const url = `${served.url}/slow`;
  const options = {
    method: "POST",
    body: gzipSync("{}"),
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  };
  assert.equal((await fetch(url, options)).status, 503);
  for (const { socket } of slow) socket.destroy();
  await until(() => budget.held === 0);
  assert.equal((await fetch(url, options)).status, 200);
});
