import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../support/start.ts";

const V1 = "/api/v1/audit";
const app = await start({ after });
const TEXT = "x".repeat(1_000_000);

function longEvent(id: string) {
  return { id, command: TEXT, message: TEXT, reason: TEXT };
}

test("a few bytes cannot ask for a long event over and over", async () => {
  assert.equal((await app.post(V1, longEvent("long"))).status, 202);
  const { status, body } = await app.post(V1, { events: Array(10_000).fill({ id: "long" }) });
  assert.equal(status, 413);
  assert.match(body.error, /^events: the batch repeats ids of much longer events/);
});

test("nor for many long events at once, nor for one that the batch itself begins with", async () => {
  const ids = Array.from({ length: 10 }, (_, i) => `many-${i}`);
  for (const id of ids) assert.equal((await app.post(V1, longEvent(id))).status, 202);
  const repeated = ids.map((id) => ({ id }));
  assert.equal((await app.post(V1, { events: [{ id: "new" }, ...repeated] })).status, 413);
  assert.equal((await app.get(`${V1}/new`)).status, 404);
  const events = [longEvent("own"), ...Array(20).fill({ id: "own" })];
  assert.equal((await app.post(V1, { events })).status, 413);
});

test("one long event is answered as it was stored, and a batch can be sent again", async () => {
  const again = { events: [{ id: "long", command: "a" }] };
  const [one] = (await app.post(V1, again)).body.events;
  assert.equal(one.command, TEXT);
  const batch = { events: [longEvent("twice-1"), longEvent("twice-2"), { id: "short" }] };
  const first = await app.post(V1, batch);
  assert.equal(first.status, 202);
  assert.deepEqual((await app.post(V1, batch)).body, first.body);
});

test("ten thousand short events can be sent again", async () => {
  const events = Array.from({ length: 10_000 }, (_, i) => ({ id: `short-${i}`, command: "ls" }));
  const first = await app.post(V1, { events });
  assert.equal(first.status, 202);
  assert.deepEqual((await app.post(V1, { events })).body, first.body);
});
