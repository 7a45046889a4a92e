import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import { missedBy, withArrivals, withOlder } from "../../../src/portal/pages/audit-arrivals.ts";

function event(id: string, seconds: number): AuditEvent {
  const timestamp = new Date(
    Date.parse("2026-11-20T20:00:00.000Z") + seconds * 1_000,
  ).toISOString();
  return {
    ...{ id, timestamp, ingested_at: timestamp, organization_id: "default" },
    ...{ consumer: "human", ai: false, status: "allowed" },
  };
}

function idsOf({ events }: { readonly events: readonly AuditEvent[] }): string {
  return events.map(({ id }) => id).join(" ");
}

const LIST = { events: [event("c", 30), event("b", 20)], total: 5, next_cursor: "more" };

test("arrivals are sorted by time, and of equal times the last one comes first", () => {
  const list = withArrivals(LIST, [event("d", 30), event("e", 30), event("f", 25)]);
  assert.equal(idsOf(list), "e d c f b");
  assert.equal(list.total, 8);
});

test("an event of the list is not added twice", () => {
  const list = withArrivals(LIST, [event("b", 20), event("d", 40), event("d", 40)]);
  assert.equal(idsOf(list), "d c b");
  assert.equal(list.total, 6);
});

test("events with the same id from two reporters are different events", () => {
  const other = { ...event("b", 20), reported_by: "key-1" };
  assert.equal(idsOf(withArrivals(LIST, [other])), "c b b");
  assert.deepEqual(missedBy(LIST, [other]), [other]);
  assert.equal(idsOf(withOlder(LIST, { events: [other], total: 5 })), "c b b");
});

test("events that arrived during a load are missing only where the list lacks them", () => {
  const arrived = [event("b", 20), event("a", 1), event("d", 25)];
  assert.deepEqual(missedBy(LIST, arrived), [event("d", 25)]);
  const { events, total } = LIST;
  assert.deepEqual(missedBy({ events, total }, arrived), [event("a", 1), event("d", 25)]);
});

test("an event older than the shown ones is only counted", () => {
  const late = event("a", 1);
  assert.equal(idsOf(withArrivals(LIST, [late])), "c b");
  assert.equal(withArrivals(LIST, [late]).total, 6);
  const { events, total } = LIST;
  assert.equal(idsOf(withArrivals({ events, total }, [late])), "c b a");
});

test("the next page is appended without events that are there already", () => {
  const older = { events: [event("b", 20), event("a", 10)], total: 6 };
  const list = withOlder(LIST, older);
  assert.equal(idsOf(list), "c b a");
  assert.equal(list.total, 6);
  assert.equal("next_cursor" in list, false);
});
