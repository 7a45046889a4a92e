import { DAY_MS } from "../src/core/clock.ts";

const two = (n: number): string => String(n).padStart(2, "0");
const MINUTES = Array.from(
  { length: 1_440 },
  (_, i) => `${two(Math.floor(i / 60))}:${two(i % 60)}:`,
);
const SECONDS = Array.from({ length: 60 }, (_, i) => `${two(i)}.`);
const MILLISECONDS = Array.from({ length: 1_000 }, (_, i) => `${String(i).padStart(3, "0")}Z`);

let cachedDay = Number.NaN;
let cachedPrefix = "";

/**
 * Formats a moment like `toISOString`, several times faster for neighbours on one day.
 *
 * @param ms whole milliseconds since the epoch, not before it
 */
export function isoOf(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (day !== cachedDay) {
    cachedPrefix = new Date(ms).toISOString().slice(0, 11);
    cachedDay = day;
  }
  const inDay = ms - day * DAY_MS;
  const minute = MINUTES[Math.floor(inDay / 60_000)] ?? "";
  const second = SECONDS[Math.floor(inDay / 1_000) % 60] ?? "";
  return cachedPrefix + minute + second + (MILLISECONDS[inDay % 1_000] ?? "");
}
