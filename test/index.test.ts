import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, startSignalbox, type SignalboxOptions } from "../src/index.ts";
import { newDirectory } from "./support/server-process.ts";

const IN_TIME = { timeout: 60_000 };

const start = (options: unknown) => startSignalbox(options as SignalboxOptions);

test("a start without options names the missing option", async () => {
  const missing = new ConfigError("dataDir: required, the directory that holds everything stored");
  for (const options of [undefined, null, "d", {}]) await assert.rejects(start(options), missing);
});

test("a clock or log that is not a function is refused by name, before anything is written", async () => {
  for (const value of [5, null, "now"]) {
    const dataDir = "/dev/null/never";
    await assert.rejects(
      start({ dataDir, now: value }),
      new ConfigError("now: expected a function"),
    );
    await assert.rejects(
      start({ dataDir, writeLog: value }),
      new ConfigError("writeLog: expected a function"),
    );
  }
});

test("an invalid option is a ConfigError that names it", async (t) => {
  const dataDir = await newDirectory(t);
  const admin = { adminEmail: "a@b.example", adminPassword: "long enough 1" };
  for (const [options, said] of [
    [{ host: "nope.invalid" }, /^host: "nope\.invalid" is not an address of this machine/],
    [{ ...admin, adminPassword: "short" }, /^adminPassword: expected 10 to 256 characters$/],
    [
      { ...admin, adminEmail: "nobody" },
      /^adminEmail: "nobody" is not understood, expected an email address$/,
    ],
    [{ catalogSource: "/nope" }, /^catalogSource: "\/nope" cannot be read \(ENOENT\)$/],
    [
      { dataDir: "/tmp/x\0x" },
      /^dataDir: a value with a NUL character is not understood, expected text/,
    ],
    [{ catalogSource: "/x\0" }, /^catalogSource: a value with a NUL character is not understood/],
    [{ dataDir: 5 }, /^dataDir: the number 5 is not understood, expected text of at most 4096/],
    [{ dataDir: new URL("file:///x") }, /^dataDir: a value of type URL is not understood/],
    [
      { port: "8080" },
      /^port: the string "8080" is not understood, expected a whole number from 0/,
    ],
    [{ port: -1 }, /^port: -1 is not understood, expected a whole number from 0/],
    [{ port: Number.NaN }, /^port: NaN is not understood/],
    [{ port: 8080n }, /^port: a value of type BigInt is not understood/],
    [{ port: null }, /^port: a value of type Null is not understood/],
    [
      { requireAuth: "true" },
      /^requireAuth: the string "true" is not understood, expected true or/,
    ],
    [{ dataDir: "/etc/passwd/x" }, /is a file, or is inside a file: choose another dataDir/],
    [{ now: () => Number.NaN }, /^now: returned NaN, expected milliseconds since the epoch$/],
    [{ now: () => 1e20 }, /^now: returned 100000000000000000000, expected milliseconds/],
    [{ now: () => new Date(0) }, /^now: returned no number, expected milliseconds/],
  ] as const) {
    await assert.rejects(start({ dataDir, ...options }), (error: unknown) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, said);
      return true;
    });
  }
});

test("fake timers of a test harness do not block the service", IN_TIME, async (t) => {
  const dataDir = await newDirectory(t);
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate"] });
  const service = await startSignalbox({ dataDir });
  const api = `${service.url}/api/public`;
  const post = (path: string, body: object) =>
    fetch(api + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Connection: "close" },
      body: JSON.stringify(body),
    });
  assert.equal((await post("/audit", { command: "ls" })).status, 202);
  assert.equal((await post("/fleet/heartbeat", { name: "runner-1" })).status, 200);
  const yaml = `rules: []\n${"# a policy that is checked in a thread\n".repeat(500)}`;
  assert.equal((await post("/policies", { yaml })).status, 201);
  const found = (await (await fetch(`${api}/audit?q=ls`)).json()) as { total: number };
  assert.equal(found.total, 1);
  await service.close();
});

test("await using closes the service", async (t) => {
  const dataDir = await newDirectory(t);
  const service = await startSignalbox({ dataDir });
  assert.equal((await fetch(`${service.url}/health`)).status, 200);
  const used: AsyncDisposable = service;
  await used[Symbol.asyncDispose](); // as the statement does, which Node 20 does not have
  await (await startSignalbox({ dataDir })).close(); // the directory is free again
});

test("errors and log lines name the options, not the variables of the environment", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  t.after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const dataDir = join(await newDirectory(t), "PORT");
  await assert.rejects(start({ dataDir, port }), /^Error: port: \d+ of "127\.0\.0\.1" is in use/);
  await assert.rejects(start({ dataDir, adminEmail: "a@b.example" }), {
    name: "ConfigError",
    message: "adminEmail and adminPassword: give both, or neither",
  });
  const lines: string[] = [];
  const writeLog = (line: string) => void lines.push(line);
  const first = await startSignalbox({ dataDir, logLevel: "info", writeLog });
  assert.match(lines.join(""), /set adminEmail and adminPassword to create an admin/);
  await assert.rejects(start({ dataDir }), /PORT" is in use by .*, or choose another dataDir$/);
  await first.close();
});

for (const [what, fail] of [
  ["throws", () => assert.fail("the disk is full")],
  ["rejects", () => Promise.reject(new Error("the disk is full"))],
] as const) {
  test(`a log that ${what} fails neither a request nor the close`, async (t) => {
    const dataDir = await newDirectory(t);
    const service = await startSignalbox({ dataDir, logLevel: "debug", writeLog: fail });
    const answer = await fetch(`${service.url}/api/v1/api-keys`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Connection: "close" },
      body: '{"name":"k"}',
    });
    assert.equal(answer.status, 201);
    await service.close();
    await assert.rejects(fetch(`${service.url}/health`), TypeError);
    await (await startSignalbox({ dataDir })).close();
  });
}

test("the port is closed before the directory is free, even if a step of the close fails", async (t) => {
  const dataDir = await newDirectory(t);
  let isBroken = false;
  const now = () => (isBroken ? assert.fail("no time") : Date.parse("2030-01-01T00:00:00Z"));
  const service = await startSignalbox({ dataDir, now, logLevel: "info", writeLog: () => {} });
  isBroken = true;
  await assert.rejects(service.close(), /: no time$/);
  await assert.rejects(fetch(`${service.url}/health`), TypeError);
  await (await startSignalbox({ dataDir })).close();
});
