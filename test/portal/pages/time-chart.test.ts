import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, planChart, refineChart, totalOf } from "../../../src/portal/pages/time-chart.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The number of buckets of a time range. */
function countFor(from: number, to: number, length: number): number {
  return Math.ceil((to - Math.floor(from / length) * length) / length);
}

/** The answer to a plan: one event in each of some buckets. */
function bucketsFor(from: number, length: number, filled: readonly number[]) {
  const start = Math.floor(from / length) * length;
  return filled.map((i) => ({ start: start + i * length, allowed: 1, denied: 0, other: 0 }));
}

test("longer ranges have longer buckets, and never more than the API's limit", () => {
  for (const [span, interval, length] of [
    [MINUTE, "1m", MINUTE],
    [HOUR, "1m", MINUTE],
    [16 * HOUR, "1m", MINUTE],
    [DAY, "1h", HOUR],
    [41 * DAY, "1h", HOUR],
    [400 * DAY, "1d", DAY],
    [9_000 * DAY, "1d", DAY],
  ] as const) {
    const plan = planChart({ from: new Date(NOW - span).toISOString() }, NOW);
    assert.equal(plan.interval, interval);
    const count = countFor(plan.from, plan.to, length);
    assert.ok(count <= 1_000, `${count}`);
    const bars = barsOf({ plan, buckets: [] });
    assert.ok(bars.length >= 1 && bars.length <= 76, `${bars.length} bars`);
    assert.ok((bars[0]?.start ?? 0) <= plan.from && (bars.at(-1)?.end ?? 0) >= plan.to);
  }
});

test("bars hold every event of their buckets", () => {
  const plan = planChart({ from: new Date(NOW - 7 * DAY).toISOString() }, NOW);
  const buckets = bucketsFor(plan.from, HOUR, [0, 1, 2, 3, 50, 167, 168]);
  const bars = barsOf({ plan, buckets });
  assert.equal(
    bars.reduce((sum, bar) => sum + totalOf(bar), 0),
    7,
  );
  assert.ok(bars.every((bar, i) => i === 0 || bars[i - 1]?.end === bar.start));
});

test("a complete list is counted from its oldest event on", () => {
  const oldest = new Date(NOW - 3 * DAY).toISOString();
  assert.deepEqual(planChart({ oldest }, NOW), {
    interval: "1h",
    from: NOW - 3 * DAY,
    to: NOW + 1,
    isOpen: false,
  });
});

test("an event in the future is within the counted range", () => {
  const newest = new Date(NOW + DAY).toISOString();
  assert.equal(planChart({ newest, oldest: newest }, NOW).to, NOW + DAY + 1);
});

test("an unknown start is at the first event, by days", () => {
  const plan = planChart({}, NOW);
  const filled = countFor(plan.from, plan.to, DAY) - 61;
  const chart = { plan, buckets: bucketsFor(plan.from, DAY, [filled]) };
  assert.equal(refineChart(chart), undefined);
  assert.equal(barsOf(chart).length, 61);
  assert.equal(barsOf({ plan, buckets: [] }).length, 15);
});

test("a few events long before the rest are left out of the chart", () => {
  const plan = planChart({}, NOW);
  const last = countFor(plan.from, plan.to, DAY) - 1;
  const some = bucketsFor(plan.from, DAY, [
    2,
    3,
    ...Array.from({ length: 30 }, (_, i) => last - i),
  ]);
  const buckets = some.toSorted((a, b) => a.start - b.start);
  assert.equal(barsOf({ plan, buckets }).length, 30);
  const early = bucketsFor(plan.from, DAY, [2, 3, 4, 5, last]);
  assert.ok(barsOf({ plan, buckets: early }).length > 60, "most of them are early");
});

test("a complete list with an event of long ago is searched for its beginning", () => {
  const plan = planChart({ oldest: "1999-01-01T00:00:00Z" }, NOW);
  assert.ok(plan.isOpen && plan.interval === "1d");
});

test("a service that is a day old is counted by hours", () => {
  const plan = planChart({}, NOW);
  const buckets = bucketsFor(plan.from, DAY, [countFor(plan.from, plan.to, DAY) - 1]);
  const finer = refineChart({ plan, buckets });
  assert.equal(finer?.interval, "1h");
  assert.equal(finer?.from, Date.parse("2026-11-20T00:00:00.000Z"));
});
