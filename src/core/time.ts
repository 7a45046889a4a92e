/**
 * RFC 3339 §5.6 timestamps. `Date.parse` does not read them: it accepts 30 February, and many texts
 * that are not timestamps.
 */
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Timestamps in the format of `formatTimestamp`, except 29 February. `Date.parse` reads them correctly, and fast. */
const CANONICAL =
  /^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** The first moment that a timestamp can denote: 0000-01-01T00:00:00Z. */
export const FIRST_MS = Date.UTC(2000, 0, 1) - 2000 * 365.2425 * 86_400_000;
export const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Reads a timestamp with any offset. A leap second (`:60`) counts as the last millisecond before
 * it; digits beyond the millisecond are cut.
 *
 * @returns milliseconds since the epoch, or `undefined` if the text is not a timestamp or the
 *   moment lies outside the years 0000 to 9999 in UTC
 */
export function parseTimestamp(text: string): number | undefined {
  if (CANONICAL.test(text)) return Date.parse(text);
  const parts = TIMESTAMP.exec(text);
  if (!parts) return undefined;
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const offsetHours = Number(parts[9] ?? 0);
  const offsetMinutes = Number(parts[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;

  const milliseconds =
    second === 60 ? 59_999 : second * 1_000 + Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0"));
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day); // Date.UTC would read the years 0 to 99 as 19xx
  const local = moment.getTime() + (hour * 60 + minute) * 60_000 + milliseconds;
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  const utc = parts[8] === "-" ? local + offset : local - offset;
  return utc < FIRST_MS || utc > LAST_MS ? undefined : utc;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Converts a timestamp to UTC with milliseconds, as most already are; `undefined` for other texts. */
export function canonicalTimestamp(text: string): string | undefined {
  if (CANONICAL.test(text)) return text;
  const ms = parseTimestamp(text);
  return ms === undefined ? undefined : formatTimestamp(ms);
}

let cachedMs = Number.NaN;
let cachedText = "";

/** Formats a moment as RFC 3339 in UTC with milliseconds. Caches the last moment, since many events share it. */
export function formatTimestamp(ms: number): string {
  if (ms !== cachedMs) {
    cachedText = new Date(ms).toISOString();
    cachedMs = ms;
  }
  return cachedText;
}
