import assert from "node:assert/strict";
import { test } from "node:test";
import { start, START_TIME, type App } from "../support/start.ts";

// The summaries of the service: providers and the dashboard.
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function provider(app: App, id: string) {
  const { body } = await app.get("/api/public/providers");
  return body.providers.find((one: { id: string }) => one.id === id);
}

/** Reports events of a provider; each of `kinds` gives a `status` or `decision`. */
async function report(app: App, id: string, kinds: readonly object[], ageMs = 0): Promise<void> {
  const timestamp = new Date(app.now - ageMs).toISOString();
  const events = kinds.map((kind) => ({ provider: id, timestamp, ...kind }));
  await app.post("/api/public/audit", { events });
}

const OK = { policy_decision: "ALLOWED" };
const DENIED = { policy_decision: "DENIED" };
const ERROR = { status: "error" };
const FAILED = { ...OK, status: "failed" };

const STATUSES: readonly (readonly [string, readonly object[], string])[] = [
  ["no event", [], "offline"],
  ["one event", [OK], "connected"],
  ["one denied event", [DENIED], "connected"],
  ["four denied events", [DENIED, DENIED, DENIED, DENIED], "connected"],
  ["five denied events", [DENIED, DENIED, DENIED, DENIED, DENIED], "degraded"],
  ["two of five denied", [DENIED, DENIED, OK, OK, OK], "connected"],
  ["three of six, just half", [DENIED, ERROR, FAILED, OK, OK, OK], "degraded"],
  ["three of seven", [DENIED, ERROR, FAILED, OK, OK, OK, OK], "connected"],
  ["five errors", [ERROR, ERROR, ERROR, ERROR, ERROR], "degraded"],
  [
    "errors in another letter case",
    ["Error", "FAILED", "fAiLeD", "ERROR", "failed"].map((status) => ({ status })),
    "degraded",
  ],
  [
    "words that only begin so",
    ["failed1", "errors", "no error", "", "fail"].map((status) => ({ status })),
    "connected",
  ],
  ["events without a decision", [{}, {}, {}, {}, {}], "connected"],
];

test("a provider's status follows from the events of a day", async (t) => {
  const app = await start(t);
  const ids = (await app.get("/api/public/providers")).body.providers.map(
    ({ id }: { id: string }) => id,
  );
  for (const [n, [name, kinds, status]] of STATUSES.entries()) {
    const id = ids[n];
    await report(app, id, kinds);
    const row = await provider(app, id);
    assert.equal(row.status, status, name);
    assert.equal(row.last_used, kinds.length === 0 ? undefined : START_TIME, name);
  }
});

test("a day has 24 hours, the last use stays", async (t) => {
  const app = await start(t);
  await report(app, "git", [OK]);
  app.advance(DAY - 1);
  assert.equal((await provider(app, "git")).status, "connected");
  app.advance(2);
  const row = await provider(app, "git");
  assert.deepEqual([row.status, row.last_used], ["offline", START_TIME]);
  await report(app, "git", [OK], 3 * DAY);
  assert.equal((await provider(app, "git")).last_used, START_TIME);
});

test("an override applies until it is removed", async (t) => {
  const app = await start(t);
  const path = "/api/v1/providers/git";
  const put = await app.put(path, { status: "degraded" });
  assert.equal(put.status, 200);
  assert.deepEqual([put.body.id, put.body.status], ["git", "degraded"]);
  await report(app, "git", [OK]);
  assert.equal((await provider(app, "git")).status, "degraded");
  await app.restart();
  assert.equal((await provider(app, "git")).status, "degraded");
  const lifted = await app.delete(path);
  assert.deepEqual([lifted.status, lifted.body], [200, { id: "git", status: "deleted" }]);
  assert.equal((await provider(app, "git")).status, "connected");
  for (const body of [{ status: "broken" }, {}, { status: 1 }, { status: "" }]) {
    assert.equal((await app.put(path, body)).status, 400);
  }
  assert.equal((await app.put("/api/v1/providers/nonesuch", { status: "offline" })).status, 404);
});

test("the names are those of the catalog and of the audit, sorted", async (t) => {
  const app = await start(t);
  const names = async (): Promise<string[]> =>
    (await app.get("/api/public/provider-names")).body.providers;
  const catalog = await names();
  assert.ok(catalog.length >= 25);
  for (const name of ["zz-own", "Aaa-own", "git"]) await report(app, name, [OK]);
  await report(app, "long-ago", [OK], 400 * DAY);
  const all = await names();
  assert.deepEqual(all, all.toSorted());
  assert.deepEqual(new Set(all), new Set([...catalog, "zz-own", "Aaa-own", "long-ago"]));
  const { body } = await app.get("/api/v1/providers");
  assert.equal(body.catalog, "embed");
  assert.deepEqual(
    new Set(
      body.providers
        .map(({ id }: { id: string }) => id)
        .filter((id: string) => catalog.includes(id)),
    ),
    new Set(catalog),
  );
});

test("an empty dashboard has only zeros", async (t) => {
  const app = await start(t);
  const { capabilities, providers, ...rest } = (await app.get("/api/public/dashboard")).body;
  assert.ok(capabilities >= 200);
  assert.ok(providers >= 25);
  assert.deepEqual(rest, {
    commands_today: 0,
    allowed_today: 0,
    denied_today: 0,
    would_be_denied_today: 0,
    ai_operations: 0,
    ai_commands_today: 0,
    by_provider: {},
    policy_version: "",
    runtimes_online: 0,
    runtimes_total: 0,
    runtimes_drifted: 0,
    recent_audit: [],
  });
});

test("the dashboard counts the last 24 hours by the time of the event", async (t) => {
  const app = await start(t);
  await app.post("/api/public/policies", { yaml: "a: 1", version: "v7" });
  await app.post("/api/public/fleet/heartbeat", { name: "r1" });
  app.advance(HOUR);
  await app.post("/api/public/fleet/heartbeat", { name: "r2" });
  await report(app, "git", [
    OK,
    DENIED,
    { ai: true },
    { consumer: "ai", ai: false, observed_decision: "deny" },
  ]);
  await report(app, "aws", [{ consumer: "ai" }], DAY - 1);
  await report(app, "aws", [OK, DENIED, { ai: true }], DAY + 1);
  const { capabilities, providers, recent_audit, ...rest } = (await app.get("/api/v1/dashboard"))
    .body;
  assert.deepEqual(rest, {
    commands_today: 5,
    allowed_today: 1,
    denied_today: 1,
    would_be_denied_today: 1,
    ai_operations: 2,
    ai_commands_today: 2,
    by_provider: { git: 4, aws: 1 },
    policy_version: "v7",
    runtimes_online: 1,
    runtimes_total: 2,
    runtimes_drifted: 0,
  });
  assert.equal(recent_audit.length, 8);
  const list = (await app.get("/api/v1/audit?limit=10")).body.events;
  assert.deepEqual(recent_audit, list);
});

test("the dashboard shows the ten newest events, and providers with hostile names", async (t) => {
  const app = await start(t);
  await report(app, "__proto__", Array(6).fill(OK));
  await report(app, "constructor", Array(6).fill(OK));
  const { body, text } = await app.get("/api/public/dashboard");
  assert.equal(body.recent_audit.length, 10);
  assert.equal(body.commands_today, 12);
  assert.match(text, /"__proto__":6/);
  assert.equal(body.by_provider.constructor, 6);
});
