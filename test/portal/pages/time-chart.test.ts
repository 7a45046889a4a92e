import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, planChart, refineChart, totalOf } from "../../../src/portal/pages/time-chart.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Buckets of a plan, as the service answers them, with one event in each of some places. */
function bucketsFor(from: number, to: number, length: number, filled: readonly number[] = []) {
  const start = Math.floor(from / length) * length;
  return Array.from({ length: Math.ceil((to - start) / length) }, (_, i) => ({
    start: new Date(start + i * length).toISOString(),
    allowed: filled.includes(i) ? 1 : 0,
    denied: 0,
    other: 0,
  }));
}

test("the longer the time, the longer the buckets, and never more than are answered", () => {
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
    const buckets = bucketsFor(plan.from, plan.to, length);
    assert.ok(buckets.length <= 1_000, `${buckets.length}`);
    const bars = barsOf({ plan, buckets });
    assert.ok(bars.length >= 1 && bars.length <= 76, `${bars.length} bars`);
    assert.ok((bars[0]?.start ?? 0) <= plan.from && (bars.at(-1)?.end ?? 0) >= plan.to);
  }
});

test("bars hold every event of their buckets", () => {
  const plan = planChart({ from: new Date(NOW - 7 * DAY).toISOString() }, NOW);
  const buckets = bucketsFor(plan.from, plan.to, HOUR, [0, 1, 2, 3, 50, 167, 168]);
  const bars = barsOf({ plan, buckets });
  assert.equal(
    bars.reduce((sum, bar) => sum + totalOf(bar), 0),
    7,
  );
  assert.ok(bars.every((bar, i) => i === 0 || bars[i - 1]?.end === bar.start));
});

test("a list that is known to its end is counted from its oldest event on", () => {
  const oldest = new Date(NOW - 3 * DAY).toISOString();
  assert.deepEqual(planChart({ oldest }, NOW), {
    interval: "1h",
    from: NOW - 3 * DAY,
    to: NOW + 1,
    isOpen: false,
  });
});

test("an event of the future is within the time that is counted", () => {
  const newest = new Date(NOW + DAY).toISOString();
  assert.equal(planChart({ newest, oldest: newest }, NOW).to, NOW + DAY + 1);
});

test("where nobody knows the beginning it is where the first event is, in days", () => {
  const plan = planChart({}, NOW);
  const filled = bucketsFor(plan.from, plan.to, DAY).length - 61;
  const chart = { plan, buckets: bucketsFor(plan.from, plan.to, DAY, [filled]) };
  assert.equal(refineChart(chart), undefined);
  assert.equal(barsOf(chart).length, 61);
  assert.equal(barsOf({ plan, buckets: bucketsFor(plan.from, plan.to, DAY) }).length, 15);
});

test("a service that is a day old is counted by the hour", () => {
  const plan = planChart({}, NOW);
  const all = bucketsFor(plan.from, plan.to, DAY);
  const buckets = bucketsFor(plan.from, plan.to, DAY, [all.length - 1]);
  const finer = refineChart({ plan, buckets });
  assert.equal(finer?.interval, "1h");
  assert.equal(finer?.from, Date.parse("2026-11-20T00:00:00.000Z"));
});
