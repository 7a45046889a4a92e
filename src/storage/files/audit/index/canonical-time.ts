/**
 * Timestamps as they are stored, `2026-01-31T12:00:00.000Z`, are read by their digits: ten times as
 * fast as `Date.parse`, which matters when every event of an organization is read back.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../core/clock.ts";
import { parseTimestamp } from "../../../../core/time.ts";

/** The length of a stored timestamp. */
export const TIMESTAMP_BYTES = 24;

const DAYS_IN_MONTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Milliseconds since the epoch; NaN if the bytes are not a stored timestamp. */
export function canonicalTime(bytes: Uint8Array, at: number): number {
  const isInForm =
    bytes[at + 4] === 45 &&
    bytes[at + 7] === 45 &&
    bytes[at + 10] === 84 &&
    bytes[at + 13] === 58 &&
    bytes[at + 16] === 58 &&
    bytes[at + 19] === 46 &&
    bytes[at + 23] === 90;
  if (!isInForm) return Number.NaN;
  const year = two(bytes, at) * 100 + two(bytes, at + 2);
  const month = two(bytes, at + 5);
  const day = two(bytes, at + 8);
  const hour = two(bytes, at + 11);
  const minute = two(bytes, at + 14);
  const second = two(bytes, at + 17);
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month))) return Number.NaN;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  const days = daysBefore(year, month) + day - 1;
  const clock = hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS;
  return days * DAY_MS + clock + fraction(bytes, at);
}

/** A timestamp of any form in milliseconds; 0 for any other text. */
export function timeOf(timestamp: string): number {
  return parseTimestamp(timestamp) ?? 0;
}

/** The milliseconds of a stored timestamp. */
function fraction(bytes: Uint8Array, at: number): number {
  return digit(bytes, at + 20) * 100 + two(bytes, at + 21);
}

/** The value of a digit; NaN for any other byte. NaN spreads, so such a timestamp has no time. */
function digit(bytes: Uint8Array, at: number): number {
  const value = (bytes[at] as number) - 48;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function two(bytes: Uint8Array, at: number): number {
  return digit(bytes, at) * 10 + digit(bytes, at + 1);
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return isLeap && month === 2 ? 29 : (DAYS_IN_MONTH[month] as number);
}

/** Days from the epoch to the first of a month; years that begin in March put leap days last. */
function daysBefore(year: number, month: number): number {
  const shifted = month > 2 ? year : year - 1;
  const daysOfYears =
    shifted * 365 + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  return daysOfYears + Math.floor((153 * ((month + 9) % 12) + 2) / 5) - 719_468;
}
