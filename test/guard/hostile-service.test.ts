/** The guard against something that only pretends to be a service. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { newMachine } from "./guard-process.ts";

async function synced(t: TestContext, answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: `http://127.0.0.1:${port}` });
  return { machine, ...(await machine.run(["sync"])) };
}

test("an answer without an end is given up", async (t) => {
  const block = "x".repeat(1 << 20);
  const { code, error } = await synced(t, (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on("drain", more).on("error", () => {});
    more();
  });
  assert.equal(code, 1);
  assert.match(error, /its answer is longer than 32 MiB/);
});

test("a service that switches protocols has given no answer", async (t) => {
  const headers = { Connection: "upgrade", Upgrade: "x" };
  const { code, error } = await synced(t, (_, response) => {
    response.writeHead(101, headers).end();
  });
  assert.equal(code, 1);
  assert.match(error, /cannot be reached: no answer/);
});

test("escape sequences of an answer do not reach the terminal", async (t) => {
  const version = "\u001b]0;title\u0007\u001b[2J";
  for (const yaml of [
    "not: [a document",
    "schema: signalbox/policy/v1\ndefault: allow\nrules: []",
  ]) {
    const { out, error } = await synced(t, (_, response) => {
      response.end(JSON.stringify({ version, organization_id: "default", yaml }));
    });
    assert.match(out + error, /policy \\u001b\]0;title\\u0007\\u001b\[2J/);
    assert.ok(!`${out}${error}`.includes("\u001b"));
  }
});

test("an answer that is not a policy is named, and changes nothing", async (t) => {
  let body = "";
  const { machine } = await synced(t, (_, response) => response.end(body));
  for (body of ["<html>Sign in</html>", "null", '{"version":"v1","organization_id":"default"}']) {
    const { code, error } = await machine.run(["sync"]);
    assert.equal(code, 1);
    assert.match(error, /answers, but not with a policy/);
    assert.ok(!existsSync(join(machine.directory, "policy.json")));
  }
});

test("a policy whose tests fail in this version of the guard decides nevertheless", async (t) => {
  const yaml = `schema: signalbox/policy/v1
default: allow
rules: [{ id: no-push, effect: deny, match: { commands: [{ prefix: git push }] } }]
tests: [{ command: git push, expect: allow }]`;
  const body = JSON.stringify({ version: "v1", organization_id: "default", yaml });
  const { machine, code, error } = await synced(t, (request, response) => {
    const isKnown = request.headers["if-none-match"] === '"1"';
    response.writeHead(isKnown ? 304 : 200, { ETag: '"1"' }).end(isKnown ? "" : body);
  });
  const said = /policy v1 is in use, but .*tests\[0\]: expected allow, but .*"no-push"/;
  assert.equal(code, 1);
  assert.match(error, said);
  assert.match((await machine.run(["sync"])).error, said); // of the same version, as fetched before
  assert.match((await machine.run(["doctor"])).out, said);
  const denied = await machine.run(["exec", "--", "git", "push"]);
  assert.deepEqual([denied.code, denied.error], [126, "signalbox guard: denied: rule no-push\n"]);
});

test("an ETag that cannot be sent back does not make the policy useless", async (t) => {
  const yaml = "schema: signalbox/policy/v1\ndefault: deny\nrules: []";
  const body = JSON.stringify({ version: "v1", organization_id: "default", yaml });
  const asked: unknown[] = [];
  const { machine, code } = await synced(t, (request, response) => {
    if (request.method === "GET") asked.push(request.headers["if-none-match"]);
    response.writeHead(200, { ETag: '"\u00e9"' }).end(body);
  });
  assert.equal((await machine.run(["sync"])).code, code);
  assert.deepEqual(asked, [undefined, undefined]);
  assert.equal((await machine.run(["exec", "--", "true"])).code, 126);
});

test("a 404 that is not the service's own does not remove the policy", async (t) => {
  const yaml = "schema: signalbox/policy/v1\ndefault: deny\nrules: []";
  let body = JSON.stringify({ version: "v1", organization_id: "default", yaml });
  let status = 200;
  const { machine } = await synced(t, (_, response) => response.writeHead(status).end(body));
  const policy = join(machine.directory, "policy.json");
  assert.ok(existsSync(policy));
  status = 404;
  for (body of ["default backend - 404", '{"error":"Not found"}', "null"]) {
    const { code, error } = await machine.run(["sync"]);
    assert.equal(code, 1);
    assert.match(error, /answered 404 to policies/);
    assert.ok(existsSync(policy), body);
  }
  body = '{"error":"No policy is active"}';
  assert.match((await machine.run(["sync"])).error, /no policy is active in the service/);
  assert.ok(!existsSync(policy));
});

test("an answer that is not the service's own removes no events", async (t) => {
  let body = "";
  let status = 400;
  const { machine } = await synced(t, (_, response) => response.writeHead(status).end(body));
  machine.env["RUNTIME_PORTAL_ENABLED"] = "false";
  await machine.run(["exec", "--", "true"]);
  const spooled = readFileSync(join(machine.directory, "spool.jsonl"), "utf8");
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  for (body of [
    ...["<h1>The plain HTTP request was sent to HTTPS port</h1>", "null", "{}"],
    '{"timestamp":"2026-11-28T00:00:00Z","status":400,"error":"Bad Request","path":"/audit"}',
    ...['{"error":"Bad Request"}', '{"error":"invalid_request"}', '{"error":""}'],
  ]) {
    assert.match((await machine.run(["sync"])).error, /answered 400 to events/);
    const kept = readFileSync(join(machine.directory, "spool.sending.jsonl"), "utf8");
    assert.equal(kept, spooled);
  }
  [status, body] = [202, "<h1>Sign in to the network</h1>"];
  assert.match((await machine.run(["sync"])).error, /answered 202 to events/);
  assert.equal(readFileSync(join(machine.directory, "spool.sending.jsonl"), "utf8"), spooled);
  [status, body] = [400, '{"error":"events[0].command: expected a text"}'];
  await machine.run(["sync"]);
  assert.ok(!existsSync(join(machine.directory, "spool.sending.jsonl")));
});

for (const status of [202, 503]) {
  test(`a synchronisation whose lock was taken over removes nothing after a ${status}`, async (t) => {
    let directory = "";
    const { machine } = await synced(t, (request, response) => {
      if (request.url?.includes("audit")) {
        // As another synchronisation does when this one slept for long.
        writeFileSync(join(directory, "sync.lock"), "1");
        response.writeHead(status);
      }
      response.end('{"accepted":1}');
    });
    ({ directory } = machine);
    const line = (id: string) => `{"id":"${id}","command":"ls"}\n`;
    writeFileSync(join(directory, "spool.sending.jsonl"), line("a"), { mode: 0o600 });
    writeFileSync(join(directory, "spool.jsonl"), line("b"), { mode: 0o600 });
    const { code, error } = await machine.run(["sync"]);
    assert.equal(code, 1);
    assert.match(error, /another synchronisation has taken over/);
    assert.equal(readFileSync(join(directory, "sync.lock"), "utf8"), "1");
    assert.equal(readFileSync(join(directory, "spool.sending.jsonl"), "utf8"), line("a"));
    assert.equal(readFileSync(join(directory, "spool.jsonl"), "utf8"), line("b"));
  });
}
