/** Formats numbers and times for people, the same on the server and in the browser. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/clock.ts";
import { wallText, zoneAt } from "./zone.ts";

/** The short names of the months. */
export const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** The day of a reading of the wall clock, without its year: `7 Nov`. */
export function shortDay(ms: number): string {
  const moment = new Date(ms);
  return `${moment.getUTCDate()} ${MONTHS[moment.getUTCMonth()]}`;
}

/** Writes a whole number with spaces between thousands: `12 345`. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, "\u202f");
}

/** Writes a number of things: `1 event`, `12 345 events`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return number === 1 ? `1 ${one}` : `${count(number)} ${many}`;
}

/** Writes a part of a whole in percent; `0 %` of nothing. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "0\u202f%";
  const value = (100 * part) / whole;
  // A small part is never shown as 0 %, nor an incomplete one as 100 %.
  if (part > 0 && value < 1) return "<1\u202f%";
  if (part < whole && value > 99) return ">99\u202f%";
  return `${Math.round(value)}\u202f%`;
}

/** Writes the age of a moment in its largest unit: `3 min ago`; both times in milliseconds. */
export function ago(moment: number, now: number): string {
  const silence = now - moment;
  if (Number.isNaN(silence)) return "at an unknown time";
  if (silence < -MINUTE_MS) return `in ${span(-silence)}`;
  return silence < MINUTE_MS ? "just now" : `${span(silence)} ago`;
}

function span(ms: number): string {
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return counted(Math.floor(ms / DAY_MS), "day");
}

/** Writes an RFC 3339 moment in the shown zone to the second: `2026-11-20 20:30:00 UTC`. */
export function exactly(timestamp: string): string {
  const ms = Date.parse(timestamp);
  if (Number.isNaN(ms)) return timestamp;
  return `${wallText(ms)} ${zoneAt(ms)}`;
}

/** Writes milliseconds in their two largest units: `3 d 4 h`, `12 min 5 s`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return "0 s";
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

/** The title of a document: that of its page, and the name of the product. */
export function documentTitle(title: string): string {
  return title === "Signalbox" ? title : `${shorten(title, 80)} - Signalbox`;
}

/** Cuts a text to a number of code points and appends an ellipsis. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const points = Array.from(text.slice(0, 2 * length + 2));
  return points.length <= length ? text : `${points.slice(0, length).join("")}…`;
}
