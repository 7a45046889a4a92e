import assert from "node:assert/strict";
import { test } from "node:test";
import { chartLabels } from "../../../src/portal/pages/chart-labels.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The labels of a number of bars of a length, from a time on. */
function labels(from: string, length: number, bars: number): readonly string[] {
  const first = Date.parse(from);
  const spans = Array.from({ length: bars }, (_, i) => ({
    start: first + i * length,
    end: first + (i + 1) * length,
  }));
  return [...chartLabels(spans).values()];
}

test("hours are labelled at round times, and midnight with its date", () => {
  assert.deepEqual(labels("2026-11-20T09:00:00Z", HOUR, 24), [
    ...["12:00", "16:00", "20:00"],
    ...["21 Nov", "04:00"],
  ]);
});

test("minutes and days get a few round labels", () => {
  assert.deepEqual(labels("2026-11-20T09:05:00Z", MINUTE, 60), [
    ...["09:10", "09:20", "09:30", "09:40", "09:50", "10:00"],
  ]);
  assert.deepEqual(labels("2026-11-01T00:00:00Z", DAY, 6), [
    ...["1 Nov", "2 Nov", "3 Nov", "4 Nov", "5 Nov", "6 Nov"],
  ]);
  for (const [length, bars] of [
    [15 * MINUTE, 66],
    [6 * HOUR, 60],
    [28 * DAY, 36],
    [7 * DAY, 70],
  ] as const) {
    const found = labels(
      new Date(Math.floor(Date.parse("2026-11-20") / length) * length).toISOString(),
      length,
      bars,
    );
    assert.ok(found.length >= 2 && found.length <= 7, `${bars} of ${length} ms: ${found.join()}`);
  }
});

test("no bars have no labels", () => {
  assert.equal(chartLabels([]).size, 0);
});
