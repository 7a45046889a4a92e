/** Events as comma-separated values (RFC 4180), safe to open in a spreadsheet. */
import { slicesOf } from "../core/slices.ts";
import { parseLongJson } from "../core/json/long-json.ts";
import type { Work } from "../core/scheduling/work.ts";
import { auditEvent, type AuditEvent } from "./schema.ts";

const COLUMNS = Object.keys(auditEvent.properties) as readonly (keyof AuditEvent)[];
const NEEDS_QUOTES = /[",;\t\r\n]/;
/**
 * Positions where a spreadsheet could begin a cell with a formula. A formula begins with one of `=+-@`;
 * some spreadsheets also accept their full-width and small forms. A cell can begin at the start of a text, and
 * after a semicolon, a tab or a line break: locales whose separator is not the comma split a line there.
 * Quotes in the middle of a cell do not prevent the split. Importers drop spaces, quotes and invisible
 * characters before a formula, so the pattern skips them. It does not skip separators: each separator
 * begins a search, so a run of separators would take quadratic time.
 */
const FORMULA_AHEAD =
  // oxlint-disable-next-line no-control-regex -- importers drop a NUL before a formula
  /^(?=[\t\r\n])|(?:^|(?<=[;\t\r\n]))(?=["\p{Z}\p{Cf}\p{DI}\u2800\0-\x08\v\f\x0e-\x1f\x7f-\x9f]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b])/gu;
const SEPARATORS = ";\t\r\n";
const FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b";
/** The characters that may stand between a separator and a formula: the first class of `FORMULA_AHEAD`. */
// oxlint-disable-next-line no-control-regex -- importers drop a NUL before a formula
const INVISIBLE = /["\p{Z}\p{Cf}\p{DI}\u2800\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/u;
const NEWLINE = 0x0a;
/** Longer texts are turned into cells in parts of this many UTF-16 units. */
const LONG_CELL = 4 << 10;

/** Tells a spreadsheet, at the start of a file, that the text is UTF-8. */
export const BYTE_ORDER_MARK = "\ufeff";

/** The first line: the name of every field of an event. */
export const CSV_HEADER = `${COLUMNS.join(",")}\r\n`;

/** Turns whole JSON rows, each of which ends in a newline, into lines of values. */
export function* csvLines(rows: Buffer): Work<string> {
  let lines = "";
  for (let start = 0; start < rows.length; yield) {
    const newline = rows.indexOf(NEWLINE, start);
    const end = newline === -1 ? rows.length : newline;
    if (end > start) lines += csvLine(JSON.parse(rows.toString("utf8", start, end)) as AuditEvent);
    start = end + 1;
  }
  return lines;
}

/** Like `csvLines`, in smaller steps, for one row of up to several MiB. */
export function* longCsvLine(row: Buffer): Work<Buffer> {
  const event = (yield* parseLongJson(row, false)) as AuditEvent;
  const parts: Buffer[] = [];
  let short = "";
  for (const [i, name] of COLUMNS.entries()) {
    const value = event[name];
    if (i > 0) short += ",";
    if (typeof value === "string" && value.length > LONG_CELL) {
      parts.push(Buffer.from(short), ...(yield* longCell(value)));
      short = "";
    } else short += cell(value);
  }
  return Buffer.concat([...parts, Buffer.from(`${short}\r\n`)]);
}

/**
 * Like `cell`, in small steps. Each part becomes bytes at once: a long text that is joined from parts, or in which
 * `replaceAll` has replaced a text, is a tree of as many nodes, and reading it took half a second for a mebibyte of quotes.
 */
export function* longCell(text: string): Work<readonly Buffer[]> {
  const parts: Buffer[] = [];
  let made = "";
  let isQuoted = false;
  let taken = 0;
  /** The position of an apostrophe if a formula follows; -1 once a visible character rules a formula out. */
  let ahead = 0;
  let pause = LONG_CELL;
  for (let at = 0; at < text.length;) {
    const char = String.fromCodePoint(text.codePointAt(at) as number);
    const isSeparator = SEPARATORS.includes(char);
    const isFormula = ahead !== -1 && FORMULA.includes(char);
    if (isFormula || (at === 0 && isSeparator && char !== ";")) {
      made += `${text.slice(taken, ahead)}'`;
      taken = ahead;
    }
    if (isSeparator || char === '"' || char === ",") isQuoted = true;
    at += char.length;
    if (isSeparator) ahead = at;
    else if (ahead !== -1 && !INVISIBLE.test(char)) ahead = -1;
    if (at < pause) continue;
    pause = at + LONG_CELL;
    // Text that may still need an apostrophe before it is not appended yet.
    const end = ahead === -1 ? at : ahead;
    yield* addBytes(made + text.slice(taken, end), parts);
    made = "";
    taken = end;
    yield;
  }
  yield* addBytes(made + text.slice(taken), parts);
  if (!isQuoted) return parts;
  const quote = Buffer.from('"');
  return [quote, ...parts, quote];
}

/** Adds a text as bytes, with its quotes doubled. */
function* addBytes(text: string, parts: Buffer[]): Work<void> {
  for (const slice of slicesOf(text, LONG_CELL)) {
    parts.push(Buffer.from(slice.replaceAll(/"/g, '""')));
    yield;
  }
}

/** The line of one event, in the order of the columns. */
export function csvLine(event: AuditEvent): string {
  return `${COLUMNS.map((name) => cell(event[name])).join(",")}\r\n`;
}

/** One value; an apostrophe before a possible formula marks it as text. */
export function cell(value: string | number | boolean | undefined): string {
  if (value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = value.replace(FORMULA_AHEAD, "'");
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll(/"/g, '""')}"` : text;
}
