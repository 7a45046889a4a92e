import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { Client } from "../support/client.ts";
import { startProcess } from "../support/service-process.ts";

const REQUESTS = 6_000;
const AT_ONCE = 50;

test(
  "a log that nobody reads stalls no request, and says later what it dropped",
  { timeout: 60_000 },
  async (t) => {
    const { url, child } = await startProcess(t, { LOG_LEVEL: "debug" });
    const client = new Client();
    t.after(() => client.close());
    const headers = { "x-request-id": "i".repeat(128) };
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, () =>
          client.request(url, "GET", "/health", undefined, headers),
        ),
      );
      assert.ok(answers.every(({ status }) => status === 200));
    }
    const event = { command: "ls" }; // a blocked write must not take the disk's threads either
    const stored = await client.request(url, "POST", "/api/public/audit", event);
    assert.equal(stored.status, 202);

    const log = text(child.stderr);
    const last = await client.request(url, "GET", "/version");
    assert.equal(last.status, 200);
    child.kill("SIGTERM");
    await once(child, "exit");
    const lines = (await log).trimEnd().split("\n");
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>); // none is torn
    const requests = told.filter(({ message }) => message === "request").length;
    const dropped = told
      .filter(({ message }) => message === "log lines were dropped")
      .reduce((sum, line) => sum + Number(line["dropped"]), 0);
    assert.ok(dropped > 0);
    assert.ok(requests + dropped >= REQUESTS);
  },
);

test(
  "a log that nobody reads does not keep the service from stopping",
  { timeout: 30_000 },
  async (t) => {
    const { url, child } = await startProcess(t, { LOG_LEVEL: "debug" });
    const client = new Client();
    t.after(() => client.close());
    const headers = { "x-request-id": "i".repeat(128) };
    for (let sent = 0; sent < 3_000; sent += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, () =>
          client.request(url, "GET", "/health", undefined, headers),
        ),
      );
    }
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number | null];
    assert.equal(code, 0);
  },
);
