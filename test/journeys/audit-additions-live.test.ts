import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream } from "../support/event-stream.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const AUDIT = "/api/public/audit";

test("a stream that a restart cuts continues without a gap", async (t) => {
  const app = await start(t);
  await app.post(AUDIT, { command: "before" });
  const stream = await app.stream(`${AUDIT}/stream?q=run`);
  assert.equal(stream.response.headers["x-accel-buffering"], "no");
  await stream.block();
  await app.post(AUDIT, {
    events: [{ command: "run 1" }, { command: "ls" }, { command: "run 2" }],
  });
  const first = await stream.event();
  assert.equal(first?.data.command, "run 1");
  await app.restart();
  await app.post(AUDIT, { command: "run 3" });
  const again = await app.stream(`${AUDIT}/stream?q=run`, { "Last-Event-ID": first.id });
  await app.post(AUDIT, { command: "run 4" });
  assert.deepEqual(await again.commands(3), ["run 2", "run 3", "run 4"]);
});

test("the streamed event equals the stored one", async (t) => {
  const app = await start(t);
  const stream = await app.stream(`${AUDIT}/stream`);
  await stream.block();
  const { body } = await app.post(AUDIT, { user: "Zoë", command: "a\r\nb\u2028c", durationMs: 1 });
  assert.deepEqual((await stream.event())?.data, body);
});

test("a stream has the events that match in part", async (t) => {
  const app = await start(t);
  const stream = await app.stream(
    `${AUDIT}/stream?executor=A*&not_runtime=*-test&wildcards=executor,not_runtime`,
  );
  await stream.block();
  const read = async () => JSON.stringify((await stream.event())?.data);
  const names = [
    ["bob", "r1"],
    ["ada", "r1-test"],
    ["Ada L", "r1"],
    ["ann", undefined],
  ];
  for (const [executor, runtime_name] of names) {
    await app.post(AUDIT, { command: "ls", executor, runtime_name });
  }
  assert.match(await read(), /"executor":"Ada L"/);
  assert.match(await read(), /"executor":"ann"/);
});

test("a repeated event is streamed once", async (t) => {
  const app = await start(t);
  const stream = await app.stream(`${AUDIT}/stream`);
  await stream.block();
  for (let n = 0; n < 3; n++) await app.post(AUDIT, { id: "same", command: "a" });
  await app.post(AUDIT, { command: "b" });
  assert.deepEqual(await stream.commands(2), ["a", "b"]);
});

test("many readers, some late, get every event of a busy log once and in order", async (t) => {
  const app = await start(t, { auditSegmentBytes: 64 * 1024 });
  const opened = await app.stream(`${AUDIT}/stream`);
  const beginning = (await opened.block())?.id ?? "";
  const wanted: string[] = [];
  const reports: Promise<unknown>[] = [];
  const readers = [opened];
  for (let n = 0; n < 40; n++) {
    const events = Array.from({ length: 25 }, (_, i) => ({ command: `run ${n}.${i}` }));
    wanted.push(...events.map(({ command }) => command));
    reports.push(app.post(AUDIT, { events }));
    if (n % 10 === 5) {
      readers.push(await app.stream(`${AUDIT}/stream`, { "Last-Event-ID": beginning }));
    }
  }
  await Promise.all(reports);
  const found = await Promise.all(readers.map((reader) => reader.commands(wanted.length)));
  for (const commands of found) {
    assert.deepEqual(commands, found[0]);
    assert.deepEqual([...commands].sort(), [...wanted].sort());
  }
});

test("a key follows its own organization's events and no other's", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const { admin: other } = await app.createOrganization("Acme", admin);
  const { key } = await app.createKey("build", other);
  const stream = await app.stream("/api/v1/audit/stream", key);
  const position = (await stream.block())?.id ?? "";
  await app.post("/api/v1/audit", { command: "theirs" }, admin);
  await app.post("/api/v1/audit", { command: "ours" }, key);
  assert.deepEqual(await stream.commands(1), ["ours"]);
  const refused = await app.stream("/api/v1/audit/stream", { ...admin, "Last-Event-ID": position });
  assert.equal(refused.status, 400);
});

test("a service that stops does not wait for its streams", async (t) => {
  const app = await start(t);
  // Not opened by the app, which would end them itself.
  const open = () => EventStream.open(app.url, `${AUDIT}/stream`);
  const streams = await Promise.all(Array.from({ length: 5 }, open));
  for (const stream of streams) await stream.block();
  await app.close();
  for (const stream of streams) {
    assert.equal(await stream.block(), undefined);
    assert.ok(stream.response.complete, "cut in the middle");
  }
});
