import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { Client } from "../support/client.ts";
import { launch, newDirectory } from "../support/server-process.ts";

const REQUESTS = 6_000;
const AT_ONCE = 50;

/** Starts a server with an unread log, and sends it requests. */
async function withUnreadLog(t: TestContext, requests: number) {
  const settings = { DATA_DIR: await newDirectory(t), LOG_LEVEL: "debug" };
  const server = launch(t, settings, { leavesErrors: true });
  const url = await server.url();
  const client = new Client();
  t.after(() => client.close());
  const headers = { "x-request-id": "i".repeat(128) };
  for (let sent = 0; sent < requests; sent += AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () =>
        client.request(url, "GET", "/health", undefined, headers),
      ),
    );
    for (const { status } of answers) assert.equal(status, 200);
  }
  return { server, url, client };
}

test(
  "an unread log does not stall requests, and later states how many lines it dropped",
  { timeout: 300_000 },
  async (t) => {
    const { server, url, client } = await withUnreadLog(t, REQUESTS);
    const event = { command: "ls" }; // a blocked write must not take the disk's threads either
    const stored = await client.request(url, "POST", "/api/public/audit", event);
    assert.equal(stored.status, 202);

    const log = text(server.errors);
    const last = await client.request(url, "GET", "/version");
    assert.equal(last.status, 200);
    server.kill("SIGTERM");
    await server.exit();
    const lines = (await log).trimEnd().split("\n");
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>); // no line is torn
    const requests = told.filter(({ message }) => message === "request").length;
    const dropped = told
      .filter(({ message }) => message === "log lines were dropped")
      .reduce((sum, line) => sum + Number(line["dropped"]), 0);
    assert.ok(dropped > 0);
    assert.ok(requests + dropped >= REQUESTS);
  },
);

test(
  "an unread log does not prevent the service from stopping",
  { timeout: 300_000 },
  async (t) => {
    const { server } = await withUnreadLog(t, 3_000);
    server.kill("SIGTERM");
    assert.equal(await server.exit(), 0);
  },
);
