import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { request } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { Client } from "../support/client.ts";
import { launch, newDirectory } from "../support/server-process.ts";
import type { Scope } from "../support/start.ts";

// The built server, run as an operator runs it. After hooks run in order: the process is killed
// before its directory is removed.

test("the server prints one line, answers, and keeps acknowledged events when it is killed", async (t) => {
  const client = new Client();
  t.after(() => client.close());
  const directory = await newDirectory(t);
  let server = launch(t, { DATA_DIR: directory });
  let url = await server.url();
  assert.equal(server.stdout, `Signalbox listening on ${url}\n`);
  const post = (path: string, body: object) => client.request(url, "POST", `/api/v1${path}`, body);

  assert.equal((await post("/policies", { version: "v1", yaml: "a: 1" })).status, 201);
  await post("/runtime/register", { name: "r1" });
  const { body: created } = await post("/api-keys", { name: "k" });

  // Killed in the middle of many reports: every answered report must be stored.
  const acknowledged: string[] = [];
  const reports = Array.from({ length: 400 }, async (_, n) => {
    const answer = await post("/audit", { id: `e${n}`, command: "ls" }).catch(() => undefined);
    if (answer?.status === 202) acknowledged.push(answer.body.id);
    if (acknowledged.length === 100) server.kill("SIGKILL");
  });
  await Promise.all(reports);
  assert.equal(await server.exit(), "SIGKILL");
  assert.ok(acknowledged.length >= 100);

  server = launch(t, { DATA_DIR: directory, REQUIRE_AUTH: "true" });
  url = await server.url();
  const headers = { "x-api-key": created.api_key };
  const { body } = await client.request(url, "GET", "/api/v1/audit?limit=1000", undefined, headers);
  const kept = new Set(body.events.map(({ id }: { id: string }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !kept.has(id)),
    [],
  );
  assert.equal(kept.size, body.total);
  const policy = await client.request(url, "GET", "/api/public/policies?active=true");
  assert.deepEqual([policy.body.version, policy.body.yaml], ["v1", "a: 1"]);
  const fleet = await client.request(url, "GET", "/api/public/fleet");
  assert.equal(fleet.body.runtimes.length, 1);
});

test("a misspelled setting is named in the log, without its value", async (t) => {
  const server = launch(t, { DATA_DIR: await newDirectory(t), REQUIREAUTH: "a-value" });
  await server.url();
  server.kill("SIGTERM");
  assert.equal(await server.exit(), 0);
  assert.match(server.stderr, /"warn".*REQUIREAUTH is not a setting: did you mean REQUIRE_AUTH\?/);
  assert.doesNotMatch(server.stderr, /a-value/);
});

test("a second server on the same directory ends with one line, and the first continues", async (t) => {
  const directory = await newDirectory(t);
  const first = launch(t, { DATA_DIR: directory });
  const url = await first.url();
  const second = launch(t, { DATA_DIR: directory });
  assert.equal(await second.exit(), 1);
  assert.equal(second.stdout, "");
  assert.match(second.stderr, /^[^\n]+\n$/);
  assert.match(second.stderr, /in use|another|lock/i);
  assert.ok(second.stderr.includes(directory), second.stderr);
  assert.equal((await fetch(`${url}/health`)).status, 200);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`on ${signal} the server answers the requests in flight and ends with 0, with or without idle connections`, async (t) => {
    const directory = await newDirectory(t);
    // No other setting leaves a risk on loopback: the start has nothing to warn of.
    const server = launch(t, { DATA_DIR: directory, CORS_PAGES_DEV: "off" });
    const { hostname, port } = new URL(await server.url());
    const used = await connected(t, Number(port), hostname);
    used.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(used, "data");

    const outgoing = request({
      hostname,
      port,
      method: "POST",
      path: "/api/public/audit",
      headers: { "content-type": "application/json", "content-length": 16, expect: "100-continue" },
    });
    const answered = once(outgoing, "response");
    outgoing.flushHeaders();
    await once(outgoing, "continue"); // by now the request has arrived, and the server waits for its body
    outgoing.write('{"command":');
    server.kill(signal);
    await once(used, "close");
    outgoing.end('"ls"}');
    const [response] = await answered;
    response.resume();
    assert.equal(response.statusCode, 202);
    assert.equal(await server.exit(), 0);
    assert.equal(server.stderr, "");

    const again = launch(t, { DATA_DIR: directory });
    const { total } = (await (await fetch(`${await again.url()}/api/public/audit`)).json()) as {
      total: number;
    };
    assert.equal(total, 1);
  });
}

async function connected(t: Scope, port: number, host: string): Promise<Socket> {
  const socket = connect(port, host);
  t.after(async () => void socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

test("an empty variable is unset", async (t) => {
  const empty = { REQUIRE_AUTH: "", CORS_ORIGINS: "", JWT_SECRET: "", ADMIN_EMAIL: "", HOST: "" };
  const server = launch(t, { DATA_DIR: await newDirectory(t), ...empty });
  const url = await server.url();
  assert.equal((await fetch(`${url}/api/v1/fleet`)).status, 200);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
});

test("an argument stops the start with one line, and nothing is written", async (t) => {
  const directory = await newDirectory(t);
  const refused = launch(t, { DATA_DIR: directory }, { args: ["--help"] });
  assert.equal(await refused.exit(), 1);
  const way = '"--help": there are no arguments, only the variables of docs/configuration.md';
  assert.equal(refused.stderr, `Signalbox cannot start: ${way}\n`);
  assert.deepEqual(await readdir(directory), []);
});

test("a port in use stops the start with one line, and the directory is released", async (t) => {
  const directory = await newDirectory(t);
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  t.after(() => taken.close());
  const PORT = String((taken.address() as AddressInfo).port);
  const refused = launch(t, { DATA_DIR: directory, PORT });
  assert.equal(await refused.exit(), 1);
  assert.match(refused.stderr, /^[^\n]+\n$/);
  const where = `Signalbox cannot start: PORT: ${PORT} of "127.0.0.1" is in use`;
  assert.ok(refused.stderr.startsWith(where), refused.stderr);
  const next = launch(t, { DATA_DIR: directory });
  assert.notEqual(await next.url(), "");
});
