/**
 * The time zone of shown times. The server always shows UTC; a browser may show its own zone instead. Addresses,
 * `datetime` attributes and exports hold UTC in both.
 */
import { MINUTE_MS } from "../core/clock.ts";

/** The minutes that a zone is ahead of UTC at a moment in milliseconds. */
export type OffsetAt = (ms: number) => number;

// Invariant: only browsers change it, since the pages of a server share this module.
let offsetAt: OffsetAt | undefined;

/** Shows times in a zone from now on; `undefined` stands for UTC. */
export function showZone(offset: OffsetAt | undefined): void {
  offsetAt = offset;
}

/** The reading of a wall clock in the shown zone, as the milliseconds at which a clock in UTC reads the same. */
export function wallClock(ms: number): number {
  return ms + (offsetAt?.(ms) ?? 0) * MINUTE_MS;
}

/** The moment of a reading of the wall clock. */
export function momentOfWall(wall: number): number {
  if (!offsetAt) return wall;
  // The offset of the moment itself counts, which may differ from that of the reading near a change of the clocks.
  return wall - offsetAt(wall - offsetAt(wall) * MINUTE_MS) * MINUTE_MS;
}

/** Writes a moment on the wall clock to the second: `2026-11-20 20:30:00`. */
export function wallText(ms: number): string {
  return new Date(wallClock(ms)).toISOString().slice(0, 19).replace("T", " ");
}

/** The shown zone at a moment: `UTC`, `UTC+2`, `UTC-3:30`. */
export function zoneAt(ms: number): string {
  const offset = offsetAt?.(ms) ?? 0;
  if (offset === 0) return "UTC";
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const rest = minutes === 0 ? "" : `:${String(minutes).padStart(2, "0")}`;
  return `UTC${offset < 0 ? "-" : "+"}${hours}${rest}`;
}

/** The shown zone in headings: `UTC`, or `local time`. */
export function zoneWords(): string {
  return offsetAt ? "local time" : "UTC";
}

/** The value of a form field for times, which has no offset, in UTC. An invalid value is returned unchanged. */
export function fieldInUtc(value: string): string {
  const wall = Date.parse(`${value}Z`);
  return Number.isNaN(wall)
    ? value
    : new Date(momentOfWall(wall)).toISOString().replace(".000Z", "Z");
}
