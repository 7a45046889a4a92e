import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { exactly } from "../../src/portal/format.ts";
import { chartLabels } from "../../src/portal/pages/chart-labels.ts";
import { barsOf } from "../../src/portal/pages/time-chart.ts";
import { fieldInUtc, momentOfWall, showZone, wallClock, zoneAt } from "../../src/portal/zone.ts";

const HOUR = 3_600_000;
/** Central Europe around the end of its summer time in 2026. */
const CHANGE = Date.parse("2026-10-25T01:00:00Z");
const berlin = (ms: number): number => (ms < CHANGE ? 120 : 60);

afterEach(() => showZone(undefined));

test("an exact time names the offset of its own moment", () => {
  showZone(berlin);
  assert.equal(exactly("2026-10-24T22:30:00Z"), "2026-10-25 00:30:00 UTC+2");
  assert.equal(exactly("2026-11-20T20:30:00Z"), "2026-11-20 21:30:00 UTC+1");
  assert.equal(exactly("<never>"), "<never>");
  showZone(() => -210);
  assert.equal(zoneAt(0), "UTC-3:30");
});

test("a field without an offset is read in the shown zone, and a broken one stays as it is", () => {
  assert.equal(fieldInUtc("2026-11-20T21:30"), "2026-11-20T21:30:00Z");
  showZone(berlin);
  assert.equal(fieldInUtc("2026-11-20T21:30:15"), "2026-11-20T20:30:15Z");
  assert.equal(fieldInUtc("2026-10-24T21:30"), "2026-10-24T19:30:00Z");
  assert.deepEqual(["", "soon"].map(fieldInUtc), ["", "soon"]);
});

test("each moment is read back from the wall clock, but for the hour that the clock shows twice", () => {
  showZone(berlin);
  for (const hours of [-30, -3, -2, 1, 2, 30]) {
    const moment = CHANGE + hours * HOUR;
    assert.equal(momentOfWall(wallClock(moment)), moment, `${hours} h`);
  }
});

test("bars begin at round local times where buckets allow it, and keep every event", () => {
  const to = Date.parse("2026-11-20T20:30:00Z");
  const buckets = [{ start: to - 30 * 60_000 - 6 * HOUR, allowed: 1, denied: 2, other: 3 }];
  const plan = { interval: "1h", from: to - 300 * HOUR, to, isOpen: false } as const;
  for (const [offset, label] of [
    [0, "00:00"],
    [60, "00:00"],
    [330, "05:30"],
  ] as const) {
    showZone(() => offset);
    const bars = barsOf({ plan, buckets });
    const [first] = bars;
    assert.ok(first && first.start <= plan.from && (bars.at(-1)?.end ?? 0) >= to);
    assert.equal(new Date(wallClock(first.start) % (6 * HOUR)).toISOString().slice(11, 16), label);
    assert.deepEqual(
      bars.map(({ allowed, denied, other }) => allowed + denied + other).filter(Boolean),
      [6],
    );
  }
});

test("bars are labelled by the wall clock, days of UTC by the day that has most of them", () => {
  const bars = (from: string, length: number, number: number) =>
    Array.from({ length: number }, (_, i) => ({
      start: Date.parse(from) + i * length,
      end: Date.parse(from) + (i + 1) * length,
    }));
  showZone(() => 60);
  assert.deepEqual(
    [...chartLabels(bars("2026-11-20T08:00:00Z", HOUR, 24)).values()],
    ["12:00", "16:00", "20:00", "21 Nov", "04:00"],
  );
  for (const offset of [60, -300, 330]) {
    showZone(() => offset);
    assert.deepEqual(
      [...chartLabels(bars("2026-11-18T00:00:00Z", 24 * HOUR, 3)).values()],
      ["18 Nov", "19 Nov", "20 Nov"],
    );
  }
});
