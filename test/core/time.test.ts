import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalTimestamp, formatTimestamp, parseTimestamp } from "../../src/core/time.ts";
import { anyText } from "../support/any-text.ts";

const FIRST = "0000-01-01T00:00:00.000Z";
const LAST = "9999-12-31T23:59:59.999Z";

/** Counts days one year and one month at a time, as slowly and plainly as possible. */
function daysBefore(year: number, month: number, day: number): number {
  let days = day - 1;
  for (let m = 1; m < month; m++) days += monthLength(year, m);
  for (let y = 1970; y < year; y++) days += isLeap(y) ? 366 : 365;
  for (let y = year; y < 1970; y++) days -= isLeap(y) ? 366 : 365;
  return days;
}

function isLeap(year: number): boolean {
  if (year % 400 === 0) return true;
  return year % 4 === 0 && year % 100 !== 0;
}

function monthLength(year: number, month: number): number {
  const lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return lengths[month - 1] ?? 0;
}

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly fraction: string;
  readonly sign: 1 | -1;
  readonly offsetHour: number;
  readonly offsetMinute: number;
}

const YEAR_0 = daysBefore(0, 1, 1) * 86_400_000;
const YEAR_10000 = daysBefore(10_000, 1, 1) * 86_400_000;

/** The moment of the parts, or `undefined` if they are not a valid moment. */
function model(parts: Parts): number | undefined {
  const { year, month, day, hour, minute, second, fraction, sign } = parts;
  if (month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  if (parts.offsetHour > 23 || parts.offsetMinute > 59) return undefined;
  const seconds = second === 60 ? 59 : second;
  const milliseconds = second === 60 ? 999 : Number(`${fraction}000`.slice(0, 3));
  const minutes = hour * 60 + minute - sign * (parts.offsetHour * 60 + parts.offsetMinute);
  const days = daysBefore(year, month, day);
  const ms = ((days * 1440 + minutes) * 60 + seconds) * 1000 + milliseconds;
  return ms < YEAR_0 || ms >= YEAR_10000 ? undefined : ms;
}

const pad = (value: number, width: number) => String(value).padStart(width, "0");

function write(parts: Parts, separator: string, zone: string): string {
  const date = `${pad(parts.year, 4)}-${pad(parts.month, 2)}-${pad(parts.day, 2)}`;
  const time = `${pad(parts.hour, 2)}:${pad(parts.minute, 2)}:${pad(parts.second, 2)}`;
  return `${date}${separator}${time}${parts.fraction && `.${parts.fraction}`}${zone}`;
}

const digits = (min: number, max: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max })
    .map((list) => list.join(""));

const anyParts = fc.record({
  year: fc.oneof(fc.integer({ min: 0, max: 9999 }), fc.constantFrom(0, 1, 4, 100, 400, 1900, 9999)),
  month: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.nat(99)),
  day: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 31 }) }, fc.nat(99)),
  hour: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 24 }) }, fc.nat(99)),
  minute: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 60 }) }, fc.nat(99)),
  second: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 61 }) }, fc.nat(99)),
  fraction: digits(0, 12),
  sign: fc.constantFrom<1 | -1>(1, -1),
  offsetHour: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 24 }) }, fc.nat(99)),
  offsetMinute: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 60 }) }, fc.nat(99)),
});

test("any date, time and offset is read like a count by hand", () => {
  fc.assert(
    fc.property(anyParts, fc.constantFrom("T", "t"), (parts, separator) => {
      const sign = parts.sign === 1 ? "+" : "-";
      const zone = `${sign}${pad(parts.offsetHour, 2)}:${pad(parts.offsetMinute, 2)}`;
      assert.equal(parseTimestamp(write(parts, separator, zone)), model(parts));
      const inUtc = { ...parts, offsetHour: 0, offsetMinute: 0 };
      assert.equal(parseTimestamp(write(parts, separator, "Z")), model(inUtc));
      assert.equal(parseTimestamp(write(parts, separator, "z")), model(inUtc));
    }),
    { numRuns: 1500 },
  );
});

test("every offset within a day, on both sides of UTC, is subtracted", () => {
  const local = Date.UTC(2026, 10, 20, 12, 0, 0);
  for (let minutes = 0; minutes < 1440; minutes++) {
    const zone = `${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
    assert.equal(parseTimestamp(`2026-11-20T12:00:00+${zone}`), local - minutes * 60_000);
    assert.equal(parseTimestamp(`2026-11-20T12:00:00-${zone}`), local + minutes * 60_000);
  }
});

test("a timestamp is written in canonical form, even if it already is canonical", () => {
  const part = (most: number) => fc.integer({ min: 0, max: most });
  const parts = fc.tuple(part(9_999), part(13), part(32), part(25), part(60), part(61), part(999));
  const near = fc.constantFrom("Z", "Z", "Z", "z", "+00:00", "");
  fc.assert(
    fc.property(parts, near, ([year, month, day, hour, minute, second, ms], zone) => {
      const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
      const time = `${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}.${pad(ms, 3)}`;
      const text = `${date}T${time}${zone}`;
      const moment = parseTimestamp(text);
      const expected = moment === undefined ? undefined : formatTimestamp(moment);
      assert.equal(canonicalTimestamp(text), expected, text);
    }),
    { numRuns: 3_000 },
  );
  for (let day = 0; day < 800; day++) {
    const text = formatTimestamp(Date.UTC(2023, 0, 1) + day * 86_400_000);
    assert.equal(canonicalTimestamp(text), text);
  }
});

test("a formatted moment is read back as the same moment", () => {
  const moment = fc.integer({ min: YEAR_0, max: YEAR_10000 - 1 });
  fc.assert(fc.property(moment, (ms) => assert.equal(parseTimestamp(formatTimestamp(ms)), ms)));
});

test("the first and the last moment of four-digit years are read, one step beyond is not", () => {
  assert.equal(parseTimestamp(FIRST), YEAR_0);
  assert.equal(formatTimestamp(YEAR_0), FIRST);
  assert.equal(parseTimestamp(LAST), YEAR_10000 - 1);
  assert.equal(formatTimestamp(YEAR_10000 - 1), LAST);
  assert.equal(parseTimestamp("0000-01-01T00:00:00+00:01"), undefined);
  assert.equal(parseTimestamp("0000-01-01T00:01:00+00:01"), YEAR_0);
  assert.equal(parseTimestamp("9999-12-31T23:59:59.999-00:01"), undefined);
  assert.equal(parseTimestamp("9999-12-31T23:58:59.999-00:01"), YEAR_10000 - 1);
});

test("a leap second is the last millisecond before it, with any fraction and offset", () => {
  const expected = Date.UTC(2016, 11, 31, 23, 59, 59, 999);
  for (const text of [
    "2016-12-31T23:59:60Z",
    "2016-12-31T23:59:60.000Z",
    "2016-12-31T23:59:60.9999Z",
    "2017-01-01T00:59:60+01:00",
    "2016-12-31T15:59:60-08:00",
  ]) {
    assert.equal(parseTimestamp(text), expected, text);
  }
  assert.equal(parseTimestamp("9999-12-31T23:59:60Z"), YEAR_10000 - 1);
  assert.equal(parseTimestamp("2016-12-31T23:59:61Z"), undefined);
});

test("days outside the calendar are refused", () => {
  for (const day of ["02-30", "02-31", "04-31", "06-31", "09-31", "11-31", "01-32", "01-00"]) {
    assert.equal(parseTimestamp(`2024-${day}T00:00:00Z`), undefined, day);
  }
  assert.equal(parseTimestamp("2024-02-29T00:00:00Z"), Date.UTC(2024, 1, 29));
  assert.equal(parseTimestamp("2023-02-29T00:00:00Z"), undefined);
  assert.equal(parseTimestamp("1900-02-29T00:00:00Z"), undefined);
  assert.equal(parseTimestamp("2000-02-29T00:00:00Z"), Date.UTC(2000, 1, 29));
});

test("any number of digits beyond the millisecond are cut, not rounded", () => {
  const base = Date.UTC(2026, 0, 1);
  assert.equal(parseTimestamp("2026-01-01T00:00:00.9999Z"), base + 999);
  assert.equal(parseTimestamp("2026-01-01T00:00:00.1Z"), base + 100);
  assert.equal(parseTimestamp("2026-01-01T00:00:00.01Z"), base + 10);
  assert.equal(parseTimestamp(`2026-01-01T00:00:00.${"1".repeat(5000)}Z`), base + 111);
});

test("texts outside RFC 3339 are refused", () => {
  for (const text of [
    "",
    "now",
    "2026-11-20",
    "2026-11-20T12:00Z",
    "2026-11-20T12:00:00",
    "2026-11-20T12:00:00.Z",
    "2026-11-20T12:00:00,5Z",
    "2026-11-20T12:00:00+01",
    "2026-11-20T12:00:00+0100",
    "2026-11-20T12:00:00+1:00",
    "2026-11-20T24:00:00Z",
    "2026-11-20T12:60:00Z",
    "2026-11-20T12:00:00+24:00",
    "2026-11-20T12:00:00+00:60",
    "+02026-11-20T12:00:00Z",
    "-0001-11-20T12:00:00Z",
    "20261120T120000Z",
    "2026-W47-5T12:00:00Z",
    " 2026-11-20T12:00:00Z",
    "2026-11-20T12:00:00Z ",
    "2026-11-20T12:00:00Z\n",
    "2026-11-20\n12:00:00Z",
    "٢٠٢٦-11-20T12:00:00Z",
    "2026-11-20T12:00:00\u2212" + "01:00",
    "1763640000000",
  ]) {
    assert.equal(parseTimestamp(text), undefined, JSON.stringify(text));
  }
});

test("an unknown local offset, -00:00, is UTC", () => {
  assert.equal(parseTimestamp("2026-11-20T12:00:00-00:00"), Date.UTC(2026, 10, 20, 12));
});

test("any other text is read or refused, and never throws", () => {
  const noisy = fc.tuple(fc.constant(LAST), fc.nat(30), anyText({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.oneof(fc.string(), noisy.map(splice)), (text) => {
      const ms = parseTimestamp(text);
      assert.ok(ms === undefined || Number.isSafeInteger(ms));
    }),
  );
});

function splice([text, at, insert]: [string, number, string]): string {
  return text.slice(0, at) + insert + text.slice(at + insert.length);
}

test("a formatted moment is not confused with the cached one", () => {
  assert.equal(formatTimestamp(0), "1970-01-01T00:00:00.000Z");
  assert.equal(formatTimestamp(1), "1970-01-01T00:00:00.001Z");
  assert.equal(formatTimestamp(0), "1970-01-01T00:00:00.000Z");
  assert.equal(formatTimestamp(-1), "1969-12-31T23:59:59.999Z");
});
