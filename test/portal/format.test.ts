import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, count, duration, exactly, percent, shorten } from "../../src/portal/format.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");
const MINUTE = 60_000;

test("thousands are separated", () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(count), [
    "0",
    "999",
    "1\u202f000",
    "1\u202f234\u202f567",
  ]);
});

test("a small share is never 0 %, and an incomplete one never 100 %", () => {
  assert.deepEqual(
    [
      percent(0, 0),
      percent(0, 9),
      percent(1, 1000),
      percent(1, 2),
      percent(999, 1000),
      percent(7, 7),
    ],
    ["0 %", "0 %", "<1 %", "50 %", ">99 %", "100 %"].map((text) => text.replace(" ", "\u202f")),
  );
});

for (const { ms, expected } of [
  { ms: 0, expected: "just now" },
  { ms: MINUTE - 1, expected: "just now" },
  { ms: MINUTE, expected: "1 min ago" },
  { ms: 60 * MINUTE - 1, expected: "59 min ago" },
  { ms: 60 * MINUTE, expected: "1 h ago" },
  { ms: 24 * 60 * MINUTE - 1, expected: "23 h ago" },
  { ms: 24 * 60 * MINUTE, expected: "1 day ago" },
  { ms: 49 * 60 * MINUTE, expected: "2 days ago" },
  { ms: -MINUTE, expected: "just now" },
  { ms: -5 * MINUTE, expected: "in 5 min" },
  { ms: Number.NaN, expected: "at an unknown time" },
]) {
  test(`a moment ${ms} ms back reads "${expected}"`, () =>
    assert.equal(ago(NOW - ms, NOW), expected));
}

test("an exact time is in UTC, and an invalid one stays as it is", () => {
  assert.equal(exactly("2026-11-20T21:30:00.123+01:00"), "2026-11-20 20:30:00 UTC");
  assert.equal(exactly("<never>"), "<never>");
});

test("a duration has its two largest units", () => {
  assert.deepEqual([0, 90_500, 3_600_000, 100 * 3_600_000 + 1].map(duration), [
    "0 s",
    "1 min 30 s",
    "1 h",
    "4 d 4 h",
  ]);
});

test("a text is cut between code points", () => {
  assert.equal(shorten("four", 4), "four");
  assert.equal(shorten("🚂🚃🚃", 2), "🚂🚃…");
  assert.equal(shorten("🚂🚃", 2), "🚂🚃");
});
