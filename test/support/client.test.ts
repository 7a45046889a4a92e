import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Client } from "./client.ts";

test("a connection is used again for 30 seconds, and not once the server may close it", async (t) => {
  let connections = 0;
  const server = createServer((_request, response) => response.end());
  server.on("connection", () => connections++);
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let now = 0;
  const client = new Client(() => now);
  t.after(() => client.close());
  const after = async (ms: number) => {
    now += ms;
    assert.equal((await client.request(url, "GET", "/")).status, 200);
    return connections;
  };
  assert.equal(await after(0), 1);
  assert.equal(await after(30_000), 1);
  assert.equal(await after(30_000), 1);
  assert.equal(await after(30_001), 2);
});
