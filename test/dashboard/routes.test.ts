import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "../../src/catalog/view.ts";
import type { Expected } from "../../src/core/assignment.ts";
import { dashboardRoutes } from "../../src/dashboard/routes.ts";
import { TextReply } from "../../src/http/reply.ts";
import { start } from "../support/start.ts";

const T0 = Date.parse("2026-11-20T20:30:00.000Z");

const view = viewOf(
  {
    contract_version: "1.0",
    generated_at: "2026-11-20T00:00:00Z",
    runtime: { known: false, note: "By hand." },
    providers: [],
    capabilities: [],
  },
  "embed",
);

/** Requests the dashboard of an organization whose newest events are the given JSON. */
async function dashboardWith(recent: string): Promise<unknown> {
  const asked: unknown[] = [];
  const needs = {
    catalog: { current: () => view },
    audit: {
      activity: (organization: string, now: number) => {
        asked.push([organization, now]);
        return { commands: 1, allowed: 1, denied: 0, wouldBeDenied: 0, ai: 0, byProvider: [] };
      },
      page: (organization: string, filter: unknown, limit: number, offset: number) => {
        asked.push([organization, filter, limit, offset]);
        return { json: Buffer.from(recent, "utf8"), returned: 0, total: 0, next: undefined };
      },
    },
    fleet: {
      counts: (_organization: string, _now: number, expected: Expected) => ({
        ...{ online: 1, idle: 0, drifted: expected.active === "v1" ? 1 : 0, total: 2 },
      }),
    },
    assignments: { expected: () => ({ active: "v1" }) },
    now: () => T0,
  };
  const input = { organization: "acme", client: { gone: new AbortController().signal } } as never;
  const answer = await dashboardRoutes[0]?.handle(input, needs);
  assert.ok(answer instanceof TextReply);
  assert.deepEqual(asked, [
    ["acme", T0],
    ["acme", {}, 10, 0],
  ]);
  const pieces = [answer.body].flat();
  return JSON.parse(pieces.map(String).join(""));
}

const counts = {
  commands_today: 1,
  allowed_today: 1,
  denied_today: 0,
  would_be_denied_today: 0,
  ai_operations: 0,
  ai_commands_today: 0,
  by_provider: {},
  capabilities: 0,
  providers: 0,
  policy_version: "v1",
  runtimes_online: 1,
  runtimes_total: 2,
  runtimes_drifted: 1,
};

test("an organization without events has an empty list of them", async () => {
  assert.deepEqual(await dashboardWith(""), { ...counts, recent_audit: [] });
});

test("the newest events follow the counts, in their stored form", async () => {
  const events = [{ id: "b", command: 'echo "🚦]}"' }, { id: "a" }];
  const json = events.map((event) => JSON.stringify(event)).join(",");
  assert.deepEqual(await dashboardWith(json), { ...counts, recent_audit: events });
});

test("a long text of a recent event is cut, and whole when the event itself is requested", async (t) => {
  const app = await start(t);
  const message = `${"é".repeat(16_383)}😀`;
  const command = `${message}z`;
  await app.post("/api/v1/audit", { id: "e1", command, message });
  for (const prefix of ["/api/v1", "/api/public"]) {
    const [event] = (await app.get(`${prefix}/dashboard`)).body.recent_audit;
    assert.deepEqual([event.command, event.message], [`${message}…`, message]);
    assert.equal((await app.get(`${prefix}/audit/e1`)).body.command, command);
    assert.equal((await app.get(`${prefix}/audit`)).body.events[0].command, command);
  }
});

test("a dashboard stays short, however long the events are", async (t) => {
  const app = await start(t);
  const long = "x".repeat(1 << 20);
  for (let i = 0; i < 12; i++) {
    await app.post("/api/v1/audit", { command: long, message: long, reason: long });
  }
  const { text, body } = await app.get("/api/v1/dashboard");
  assert.equal(body.recent_audit.length, 10);
  assert.ok(text.length < 10 * 4 * 17_000, String(text.length));
});
