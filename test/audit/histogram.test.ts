import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf } from "../../src/audit/filter.ts";
import { bucketsFor, histogramOf } from "../../src/audit/histogram.ts";
import type { Interval } from "../../src/audit/schema.ts";
import { BadInput } from "../../src/core/errors.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

function buckets(interval: Interval, from?: string, to?: string) {
  const { filter, start, end, intervalMs } = bucketsFor(interval, filterOf({ from, to }), NOW);
  const text = (ms = Number.NaN) => new Date(ms).toISOString();
  return {
    range: [text(filter.from), text(filter.to)],
    covers: [text(start), text(end)],
    count: (end - start) / intervalMs,
  };
}

test("by default buckets are hours and cover the last 24, including this moment", () => {
  assert.deepEqual(buckets("1h"), {
    range: ["2026-11-19T20:30:00.001Z", "2026-11-20T20:30:00.001Z"],
    covers: ["2026-11-19T20:00:00.000Z", "2026-11-20T21:00:00.000Z"],
    count: 25,
  });
});

test("buckets begin at whole intervals in UTC and cover the range; the range stays unchanged", () => {
  const wanted = {
    range: ["2026-11-18T23:30:00.000Z", "2026-11-20T00:00:00.000Z"],
    covers: ["2026-11-18T00:00:00.000Z", "2026-11-20T00:00:00.000Z"],
    count: 2,
  };
  assert.deepEqual(buckets("1d", "2026-11-18T23:30:00Z", "2026-11-20T00:00:00Z"), wanted);
  assert.equal(buckets("1m", "2026-11-20T10:00:59.999Z", "2026-11-20T10:01:00.001Z").count, 2);
  const [start] = buckets("1d", "1969-12-30T12:00:00Z", "1970-01-01T00:00:00Z").covers;
  assert.equal(start, "1969-12-30T00:00:00.000Z");
});

test("a missing end of the range gets its default", () => {
  assert.deepEqual(buckets("1h", undefined, "2026-11-01T12:00:00Z").range, [
    "2026-10-31T12:00:00.000Z",
    "2026-11-01T12:00:00.000Z",
  ]);
  assert.deepEqual(buckets("1h", "2026-11-20T12:00:00Z").range, [
    "2026-11-20T12:00:00.000Z",
    "2026-11-20T20:30:00.001Z",
  ]);
});

test("no range begins before the year 0000", () => {
  assert.deepEqual(buckets("1h", undefined, "0000-01-01T05:00:00Z"), {
    range: ["0000-01-01T00:00:00.000Z", "0000-01-01T05:00:00.000Z"],
    covers: ["0000-01-01T00:00:00.000Z", "0000-01-01T05:00:00.000Z"],
    count: 5,
  });
});

test("an empty or reversed range has no buckets", () => {
  assert.equal(buckets("1h", "2026-11-20T12:10:00Z", "2026-11-20T12:10:00Z").count, 0);
  assert.equal(buckets("1h", "2026-11-20T12:00:00Z", "2020-01-01T00:00:00Z").count, 0);
});

test("a range of 1,000 buckets is answered, of 1,001 refused", () => {
  const to = "2026-11-20T00:00:00Z";
  assert.equal(buckets("1d", "2024-02-24T00:00:00Z", to).count, 1000);
  for (const [interval, from] of [
    ["1d", "2024-02-23T23:59:59.999Z"],
    ["1h", "2026-01-01T00:00:00Z"],
    ["1m", undefined],
    ["1d", "0000-01-01T00:00:00Z"],
  ] as const) {
    assert.throws(
      () => buckets(interval, from, to),
      (error) => error instanceof BadInput && error.message.startsWith("interval: "),
    );
  }
});

test("the answer has each bucket's start, oldest first, and zeros for empty buckets", () => {
  const asked = bucketsFor(
    "1h",
    filterOf({ from: "2026-11-20T10:15:00Z", to: "2026-11-20T12:00:00Z" }),
    NOW,
  );
  const counts = { allowed: [1, 0], denied: [0, 0], other: [2] };
  assert.deepEqual(histogramOf("1h", asked, counts), {
    interval: "1h",
    buckets: [
      { start: "2026-11-20T10:00:00.000Z", allowed: 1, denied: 0, other: 2 },
      { start: "2026-11-20T11:00:00.000Z", allowed: 0, denied: 0, other: 0 },
    ],
  });
});
