/** Events as comma-separated values (RFC 4180), safe to open in a spreadsheet. */
import { auditEvent, type AuditEvent } from "./schema.ts";

const COLUMNS = Object.keys(auditEvent.properties) as readonly (keyof AuditEvent)[];
const NEEDS_QUOTES = /[",\r\n]/;
// A spreadsheet takes what begins so for a formula, and runs it; some take the wide forms for the others.
const BEGINS_FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NEWLINE = 0x0a;

/** The first line: the name of every field of an event. */
export const CSV_HEADER = `${COLUMNS.join(",")}\r\n`;

/** Turns whole JSON rows, each of which ends in a newline, into lines of values. */
export function csvLines(rows: Buffer): string {
  let lines = "";
  for (let start = 0; start < rows.length;) {
    const newline = rows.indexOf(NEWLINE, start);
    const end = newline === -1 ? rows.length : newline;
    if (end > start) lines += csvLine(JSON.parse(rows.toString("utf8", start, end)) as AuditEvent);
    start = end + 1;
  }
  return lines;
}

/** One event's line, in the order of the columns. */
export function csvLine(event: AuditEvent): string {
  return `${COLUMNS.map((name) => cell(event[name])).join(",")}\r\n`;
}

/** One value; a text that would be a formula gets an apostrophe, which says that it is a text. */
export function cell(value: string | number | boolean | undefined): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = BEGINS_FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
