/** Batches of thousands of events: other appends and queries are served during their processing. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { AuditEvent } from "../../../../../src/audit/schema.ts";
import { createLog } from "../../../../../src/core/log.ts";
import type { Durability } from "../../../../../src/storage/append-log-options.ts";
import { FileAuditStore } from "../../../../../src/storage/files/audit.ts";
import { Layout } from "../../../../../src/storage/layout.ts";
import {
  append,
  auditEventOf,
  Follower,
  NOON,
  ORGANIZATION,
  page,
} from "../../../../audit/store-suite.ts";
import { ForgetfulFiles } from "../../../../support/forgetful-files.ts";

const EVENTS = 10_000;

function openStore(t: TestContext, durability: Durability = "sync"): FileAuditStore {
  const files = new ForgetfulFiles();
  const silent = createLog(
    "silent",
    () => NOON,
    () => {},
  );
  const store = new FileAuditStore({
    ...{ files, layout: new Layout("/data"), now: () => NOON, log: silent },
    ...{ durability, segmentBytes: 1_000_000 },
  });
  t.after(() => store.close());
  return store;
}

function batchOf(events: number): AuditEvent[] {
  return Array.from({ length: events }, (_, i) => auditEventOf({ command: `deploy ${i}` }));
}

test("the events of a large batch are entered into the index in parts", async (t) => {
  const store = openStore(t);
  await append(store, [auditEventOf()]);
  const batch = batchOf(EVENTS);
  let isAnswered = false;
  const answering = append(store, batch, ORGANIZATION, new Set()).finally(
    () => (isAnswered = true),
  );
  let [before, most] = [1, 0];
  while (!isAnswered) {
    await turn();
    const { events } = await store.usage(ORGANIZATION);
    most = Math.max(most, events - before);
    before = events;
  }
  assert.deepEqual(await answering, batch);
  assert.equal(before, 1 + EVENTS);
  assert.ok(most < EVENTS / 2, `${most} events within one turn of the loop`);
});

test("events that arrive after a large batch are stored, indexed and answered after it", async (t) => {
  const store = openStore(t, "write");
  await append(store, [auditEventOf()]);
  const follower = await Follower.of(store);
  const batch = batchOf(EVENTS);
  const answered: string[] = [];
  const storing = [append(store, batch).then(() => answered.push("batch"))];
  const later: AuditEvent[] = [];
  for (let n = 0; answered.length === 0; n++) {
    const event = auditEventOf({ command: `later ${n}` });
    later.push(event);
    storing.push(append(store, [event]).then(([stored]) => answered.push(String(stored?.id))));
    await turn();
  }
  await Promise.all(storing);
  const all = await page(store, {}, 20_000);
  assert.equal(all.total, 1 + EVENTS + later.length);
  const followed = await follower.stop(EVENTS + later.length);
  const ids = (events: readonly AuditEvent[]): string[] => events.map(({ id }) => id);
  assert.deepEqual(ids(followed), ids(all.events).reverse().slice(1));
});

test("an event is stored and answered while the ids of a large batch are looked up", async (t) => {
  const store = openStore(t, "write");
  const batch = batchOf(EVENTS);
  await append(store, batch);
  const order: string[] = [];
  const again = append(store, batch).then((stored) => {
    order.push("batch");
    return stored;
  });
  await turn();
  await append(store, [auditEventOf()]).then(() => order.push("event"));
  assert.deepEqual(await again, batch);
  assert.deepEqual(order, ["event", "batch"]);
  assert.equal((await page(store)).total, EVENTS + 1);
});

test("simultaneous large batches with the same ids, in any order, are stored once", async (t) => {
  const store = openStore(t);
  const batch = batchOf(EVENTS);
  const other = batch.map((event) => ({ ...event, command: "other" })).reverse();
  const middle = auditEventOf({ ...batch[EVENTS / 2], command: "alone" });
  const answers = [append(store, batch), append(store, other)];
  await turn();
  answers.push(append(store, [middle]), append(store, other));
  const [first = [], second = [], alone = [], third = []] = await Promise.all(answers);
  assert.deepEqual(second, [...first].reverse());
  assert.deepEqual(third, second);
  assert.deepEqual(alone, [first[EVENTS / 2]]);
  const stored = await page(store, {}, 2 * EVENTS);
  assert.equal(stored.total, EVENTS);
  assert.equal(new Set(stored.events.map(({ id }) => id)).size, EVENTS);
});

test("a large batch, of which every other event was stored before, is answered in its order", async (t) => {
  const store = openStore(t);
  const batch = Array.from({ length: EVENTS }, (_, i) =>
    auditEventOf({ command: i % 7 === 0 ? `"},{"id":"€ ${i}` : `deploy ${i}` }),
  );
  const known = batch.filter((_, i) => i % 2 === 0);
  await append(store, known);
  assert.deepEqual(await append(store, [...batch, ...known.slice(0, 3)]), [
    ...batch,
    ...known.slice(0, 3),
  ]);
  assert.equal((await page(store)).total, EVENTS);
});

test("closing the store waits until a large batch is answered", async (t) => {
  const store = openStore(t);
  const batch = batchOf(EVENTS);
  await append(store, [auditEventOf()]);
  const answering = append(store, batch, ORGANIZATION, new Set());
  for (let events = 1; events === 1; await turn()) {
    ({ events } = await store.usage(ORGANIZATION));
  }
  await store.close();
  assert.deepEqual(await answering, batch);
});
