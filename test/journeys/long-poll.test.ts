/** Runtimes that wait for another policy version. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

const POLICIES = "/api/v1/policies";
const WAIT = `${POLICIES}?active=true&wait=30`;
const SECOND_MS = 1_000;

async function publish(app: App, version: string, more: object = {}): Promise<void> {
  const body = { version, yaml: `name: ${version}`, ...more };
  assert.equal((await app.post(POLICIES, body)).status, 201);
}

async function tagOf(app: App, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await app.get(`${POLICIES}?active=true`, headers)).headers.get("etag") ?? "";
}

/** Resolves when a number of requests wait. */
async function untilWaiting(app: App, count: number): Promise<void> {
  const line = `signalbox_waiting_fetches ${count}`;
  while (!(await app.get("/metrics")).text.split("\n").includes(line));
}

/** Begins to wait with the tag of now; `before` runs once it waits. */
async function afterWaiting<T>(
  app: App,
  act: () => T | Promise<T>,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = app.get(WAIT, { ...headers, "If-None-Match": await tagOf(app, headers) });
  await untilWaiting(app, 1);
  await act();
  return answer;
}

test("a fetch that waits is answered when a version is published, activated or rolled back", async (t) => {
  const app = await start(t, { metrics: "open" });
  await publish(app, "v1");
  const published = await afterWaiting(app, () => publish(app, "v2"));
  assert.deepEqual([published.status, published.body.version], [200, "v2"]);
  const activate = () => app.post(`${POLICIES}/v1/activate`, {});
  const activated = await afterWaiting(app, activate);
  assert.deepEqual([activated.status, activated.body.version], [200, "v1"]);
  assert.equal(activated.headers.get("etag"), await tagOf(app));
});

test("without a change the answer is 304 when the time is over", async (t) => {
  const app = await start(t, { metrics: "open" });
  await publish(app, "v1");
  const etag = await tagOf(app);
  const answer = await afterWaiting(app, async () => {
    // A stored version that is not active changes nothing.
    await publish(app, "v2", { activate: false });
    app.advance(30 * SECOND_MS - 1);
    await untilWaiting(app, 1);
    app.advance(1);
  });
  assert.deepEqual([answer.status, answer.text], [304, ""]);
  assert.equal(answer.headers.get("etag"), etag);
  await untilWaiting(app, 0);
});

test("a fetch without the current tag is answered at once", async (t) => {
  const app = await start(t);
  assert.equal((await app.get(WAIT, { "If-None-Match": '"x"' })).status, 404);
  await publish(app, "v1");
  for (const headers of [{}, { "If-None-Match": '"x"' }]) {
    assert.equal((await app.get(WAIT, headers)).status, 200);
  }
});

test("a time of 1 to 60 seconds can be asked for, with the active version", async (t) => {
  const app = await start(t);
  await publish(app, "v1");
  for (const seconds of ["0", "61", "-1", "1.5", "x"]) {
    const { status, body } = await app.get(`${POLICIES}?active=true&wait=${seconds}`);
    assert.equal(status, 400, seconds);
    assert.equal(body.error, "wait: expected a whole number from 1 to 60");
  }
  for (const seconds of [1, 60]) {
    assert.equal((await app.get(`${POLICIES}?active=true&wait=${seconds}`)).status, 200);
  }
  const list = await app.get(`${POLICIES}?wait=30`);
  assert.deepEqual([list.status, list.body.error], [400, "wait: expected only with active=true"]);
});

test("a step of a rollout answers the runtimes that it selects, and no others", async (t) => {
  const app = await start(t, { metrics: "open" });
  await publish(app, "v1");
  await publish(app, "v2", { activate: false });
  const [ada, bob] = [{ "X-Runtime-Name": "ada" }, { "X-Runtime-Name": "bob" }];
  const tag = { "If-None-Match": await tagOf(app) };
  let isBobAnswered = false;
  const other = app.get(WAIT, { ...bob, ...tag }).finally(() => (isBobAnswered = true));
  const selected = app.get(WAIT, { ...ada, ...tag });
  await untilWaiting(app, 2);
  const rollout = { version: "v2", stages: [{ names: ["ada"] }, { percent: 100 }] };
  const begun = await app.post("/api/v1/rollouts", rollout);
  assert.equal(begun.status, 201);
  assert.equal((await selected).body.version, "v2");
  assert.equal(isBobAnswered, false);
  const back = await (async () => {
    const waiting = app.get(WAIT, { ...ada, "If-None-Match": await tagOf(app, ada) });
    await untilWaiting(app, 2);
    await app.post(`/api/v1/rollouts/${begun.body.id}/roll_back`, {});
    return waiting;
  })();
  assert.equal(back.body.version, "v1");
  assert.equal(isBobAnswered, false);
  await publish(app, "v3");
  assert.equal((await other).body.version, "v3");
});

test("a key that is revoked waits no longer than 15 seconds", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true, metrics: "open" });
  const admin = await app.asUser(ADMIN);
  const created = await app.post("/api/v1/api-keys", { name: "laptop" }, admin);
  const key = { "X-API-Key": created.body.api_key as string };
  assert.equal((await app.post(POLICIES, { yaml: "a: 1" }, admin)).status, 201);
  const answer = await afterWaiting(
    app,
    async () => {
      assert.equal((await app.delete(`/api/v1/api-keys/${created.body.id}`, admin)).status, 200);
      app.advance(15 * SECOND_MS);
    },
    key,
  );
  assert.equal(answer.status, 401);
});

test("a client that leaves waits no longer, and closing answers the others", async (t) => {
  const app = await start(t, { metrics: "open" });
  await publish(app, "v1");
  const headers = { "If-None-Match": await tagOf(app) };
  const left = request(app.url + WAIT, { headers, agent: false });
  left.on("error", () => {}).end();
  const stays = request(app.url + WAIT, { headers, agent: false });
  const answered = once(stays.end(), "response") as Promise<[IncomingMessage]>;
  await untilWaiting(app, 2);
  left.destroy();
  await untilWaiting(app, 1);
  const closed = app.close();
  assert.equal((await answered)[0].statusCode, 304);
  await closed;
});

test("at the limit, the address with the most waiting fetches gets its answer early", async (t) => {
  const app = await start(t, { metrics: "open", maxConnections: 16 });
  await publish(app, "v1");
  const headers = { "If-None-Match": await tagOf(app) };
  // Three quarters of the connections may wait.
  const waiting = Array.from({ length: 12 }, () => app.get(WAIT, headers));
  await untilWaiting(app, 12);
  const further = await app.get(WAIT, headers);
  assert.equal(further.status, 304);
  await untilWaiting(app, 12);
  await publish(app, "v2");
  for (const answer of await Promise.all(waiting)) assert.equal(answer.body.version, "v2");
});

test("a fetch behind which another request waits on its connection is answered at once", async (t) => {
  const app = await start(t, { metrics: "open" });
  await publish(app, "v1");
  const head = `Host: localhost\r\nIf-None-Match: ${await tagOf(app)}\r\n\r\n`;
  const waits = `GET ${WAIT} HTTP/1.1\r\n${head}`;
  const socket = connect(Number(new URL(app.url).port), "127.0.0.1").setEncoding("latin1");
  t.after(() => socket.destroy());
  let text = "";
  const statuses = () => Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);
  socket.on("data", (part: string) => (text += part));
  const untilAnswered = async (count: number) => {
    while (statuses().length < count) await once(socket, "data", { signal: t.signal });
  };
  // The last one has nothing behind it, and waits.
  socket.write(waits.repeat(3));
  await untilAnswered(2);
  await untilWaiting(app, 1);
  assert.deepEqual(statuses(), ["304", "304"]);
  socket.write(`GET /health HTTP/1.1\r\n${head}`);
  await untilAnswered(4);
  assert.deepEqual(statuses(), ["304", "304", "304", "200"]);
  await untilWaiting(app, 0);
});
