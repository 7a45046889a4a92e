import assert from "node:assert/strict";
import { test } from "node:test";
import { start, type App } from "../support/start.ts";
import { SURFACES } from "../support/surfaces.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Instance {
  readonly name: string;
  readonly status: string;
  readonly last_seen: string;
}

async function fleet(app: App): Promise<Instance[]> {
  return (await app.get("/api/public/fleet")).body.runtimes;
}

const beat = (app: App, body: object): ReturnType<App["post"]> =>
  app.post("/api/public/fleet/heartbeat", body);

test("a runtime is registered once, and keeps its id", async (t) => {
  const app = await start(t);
  const first = await app.post("/api/public/runtime/register", { name: "r1", os: "linux" });
  assert.equal(first.status, 201);
  assert.equal(first.body.name, "r1");
  assert.equal(first.body.status, "registered");
  app.advance(MINUTE);
  const again = await app.post("/api/v1/runtime/register", { name: "r1", version: "2" });
  assert.equal(again.status, 200);
  assert.deepEqual(again.body, first.body);
  assert.deepEqual(await fleet(app), [
    {
      name: "r1",
      os: "linux",
      version: "2",
      last_seen: "2026-11-20T20:31:00.000Z",
      status: "online",
    },
  ]);
  const other = await app.post("/api/public/runtime/register", { name: "r2" });
  assert.equal(other.status, 201);
  assert.notEqual(other.body.runtimeId, first.body.runtimeId);
  await app.restart();
  const later = await app.post("/api/public/runtime/register", { name: "r1" });
  assert.equal(later.status, 200);
  assert.deepEqual(later.body, first.body);
});

test("a heartbeat is enough to be listed, and registering afterwards returns 200", async (t) => {
  const app = await start(t);
  for (const [n, path] of ["/fleet/heartbeat", "/runtime/heartbeat"].entries()) {
    for (const prefix of SURFACES) {
      const { status, body } = await app.post(prefix + path, { name: `r${n}` });
      assert.equal(status, 200);
      assert.deepEqual(body, { status: "ok" });
    }
  }
  assert.equal((await fleet(app)).length, 2);
  assert.equal((await app.post("/api/public/runtime/register", { name: "r0" })).status, 200);
});

test("a heartbeat changes its fields and keeps the others", async (t) => {
  const app = await start(t);
  const all = { hostname: "h", os: "linux", version: "1", policy_version: "v1" };
  await beat(app, { name: "r", ...all });
  await beat(app, { name: "r", version: "2", os: null, hostname: "" });
  const [instance] = await fleet(app);
  assert.deepEqual(instance, {
    name: "r",
    ...all,
    version: "2",
    last_seen: "2026-11-20T20:30:00.000Z",
    status: "online",
  });
  await app.post("/api/public/runtime/register", { name: "r", policy_version: "v9", os: "mac" });
  const [registered] = await fleet(app);
  assert.deepEqual(registered, { ...instance, os: "mac" });
  await app.restart();
  assert.deepEqual(await fleet(app), [registered]);
});

const SILENCES: readonly (readonly [number, string])[] = [
  [0, "online"],
  [15 * MINUTE - 1, "online"],
  [15 * MINUTE, "idle"],
  [15 * MINUTE + 1, "idle"],
  [24 * HOUR - 1, "idle"],
  [24 * HOUR, "offline"],
  [24 * HOUR + 1, "offline"],
  [400 * 24 * HOUR, "offline"],
];

test("silence decides the status, at the millisecond", async (t) => {
  const app = await start(t);
  await beat(app, { name: "r" });
  let silence = 0;
  for (const [ms, status] of SILENCES) {
    app.advance(ms - silence);
    silence = ms;
    const [instance] = await fleet(app);
    assert.deepEqual([instance?.status, ms], [status, ms]);
    const { body } = await app.get("/api/v1/dashboard");
    assert.deepEqual([body.runtimes_online, body.runtimes_total], [status === "online" ? 1 : 0, 1]);
  }
  await beat(app, { name: "r" });
  assert.equal((await fleet(app))[0]?.status, "online");
});

test("a clock that goes back makes no runtime idle", async (t) => {
  const app = await start(t);
  await beat(app, { name: "r" });
  app.advance(-HOUR);
  assert.equal((await fleet(app))[0]?.status, "online");
});

test("the list begins with the runtime seen last", async (t) => {
  const app = await start(t);
  for (const name of ["a", "b", "c"]) {
    await beat(app, { name });
    app.advance(MINUTE);
  }
  await app.post("/api/public/runtime/register", { name: "a" });
  const order = ["a", "c", "b"];
  assert.deepEqual(
    (await fleet(app)).map(({ name }) => name),
    order,
  );
  await app.restart();
  assert.deepEqual(
    (await fleet(app)).map(({ name }) => name),
    order,
  );
});

test("names are trimmed, and must then have 1 to 256 characters", async (t) => {
  const app = await start(t);
  assert.equal((await beat(app, { name: "  r  " })).status, 200);
  assert.equal((await app.post("/api/public/runtime/register", { name: "r" })).status, 200);
  assert.equal((await app.post("/api/public/runtime/register", { name: " r\t" })).body.name, "r");
  assert.equal((await beat(app, { name: ` ${"x".repeat(256)} ` })).status, 200);
  for (const name of ["", "   ", null, undefined, 7, [], {}, "x".repeat(257)]) {
    for (const path of ["fleet/heartbeat", "runtime/heartbeat", "runtime/register"]) {
      const { status, body } = await app.post(`/api/public/${path}`, { name });
      assert.equal(status, 400, JSON.stringify(name));
      assert.match(body.error, /name/);
    }
  }
  assert.deepEqual(new Set((await fleet(app)).map(({ name }) => name.length)), new Set([1, 256]));
});

for (const field of ["hostname", "os", "version", "policy_version"]) {
  test(`a heartbeat with a ${field} that is not a text is refused`, async (t) => {
    const app = await start(t);
    const { status, body } = await beat(app, { name: "r", [field]: 1 });
    assert.equal(status, 400);
    assert.match(body.error, new RegExp(`^${field}`));
    assert.deepEqual(await fleet(app), []);
  });
}

test("a forgotten runtime is not listed, and comes back as a new one", async (t) => {
  const app = await start(t);
  const odd = "a/b ü 🚂 %";
  await beat(app, { name: odd });
  await beat(app, { name: "kept" });
  const path = `/api/v1/fleet/${encodeURIComponent(odd)}`;
  const { status, body } = await app.delete(path);
  assert.equal(status, 200);
  assert.deepEqual(body, { id: odd, status: "deleted" });
  assert.equal((await app.delete(path)).status, 404);
  await app.restart();
  assert.deepEqual(
    (await fleet(app)).map(({ name }) => name),
    ["kept"],
  );
  assert.equal((await app.post("/api/public/runtime/register", { name: odd })).status, 201);
});

test("concurrent reports make one row for each name", async (t) => {
  const app = await start(t);
  const names = Array.from({ length: 60 }, (_, n) => `r${n % 20}`);
  const answers = await Promise.all(
    names.map((name) => app.post("/api/public/runtime/register", { name })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 20);
  assert.equal(new Set(answers.map(({ body }) => body.runtimeId)).size, 20);
  assert.equal((await fleet(app)).length, 20);
});

test("a long fleet is listed whole", async (t) => {
  const app = await start(t);
  for (let from = 0; from < 1200; from += 100) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => beat(app, { name: `runtime-${from + n}` })),
    );
    for (const { status, text } of answers) assert.equal(status, 200, text);
  }
  const instances = await fleet(app);
  assert.equal(new Set(instances.map(({ name }) => name)).size, 1200);
});
