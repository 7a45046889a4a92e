/**
 * Timestamps as they are stored, `2026-01-31T12:00:00.000Z`, are read by their digits: ten times as
 * fast as `Date.parse`, which matters when every event of an organization is read back.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../core/clock.ts";
import { parseTimestamp } from "../../../core/time.ts";

const LENGTH = 24;

/** Milliseconds since the epoch; NaN for a text of another form. */
export function canonicalTime(text: string): number {
  const isInForm =
    text.length === LENGTH &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(19) === 46 &&
    text.charCodeAt(23) === 90;
  if (!isInForm) return Number.NaN;
  const month = two(text, 5);
  const day = two(text, 8);
  const hour = two(text, 11);
  const minute = two(text, 14);
  const second = two(text, 17);
  // Days that only some months have are left to the careful parser.
  if (month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59) {
    return parseTimestamp(text) ?? Number.NaN;
  }
  const days = daysBefore(two(text, 0) * 100 + two(text, 2), month) + day - 1;
  const clock = hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS;
  return days * DAY_MS + clock + digit(text, 20) * 100 + two(text, 21);
}

/** A stored timestamp of any form in milliseconds; 0 for what is none. */
export function timeOf(timestamp: string): number {
  const time = canonicalTime(timestamp);
  return Number.isNaN(time) ? (parseTimestamp(timestamp) ?? 0) : time;
}

/** NaN spreads, so a text with anything but digits there has no time. */
function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function two(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

/** Days from the epoch to the first of a month; years that begin in March put leap days last. */
function daysBefore(year: number, month: number): number {
  const shifted = month > 2 ? year : year - 1;
  const daysOfYears =
    shifted * 365 + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return daysOfYears + Math.floor((153 * ((month + 9) % 12) + 2) / 5) - 719_468;
}
