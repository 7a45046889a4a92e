/**
 * Events as lines of the log, and back. A line is the event as it is answered, byte for byte, so one
 * pass of `JSON.stringify` serves both: a batch is written as one list, and then cut where an event
 * ends and the next begins. Events are flat, their id comes first, and quotes within values are
 * escaped, so the text between two events cannot occur inside one. The answer to a batch is made of
 * the very bytes that were written.
 */
import { isUtf8 } from "node:buffer";
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { Awaitable } from "../../../../core/caller.ts";
import { parseTimestamp } from "../../../../core/time.ts";
import { isObject } from "../../../../core/validate.ts";
import { CONTINUES, ENDS } from "../../../log-lines.ts";
import type { Work } from "../../../../core/work.ts";
import { Yielder } from "../../../../core/yielder.ts";

const BETWEEN = '},{"id":"';
const BETWEEN_LINES = `}${CONTINUES}{"id":"`;
const QUOTE = 0x22;
const COMMA = 0x2c;
const NEWLINE = 0x0a;

/** So many events are written as one text, within some 0.3 ms; more of them as bytes, in texts of so many. */
const EVENTS_OF_A_TEXT = 64;

/** Writes events as lines that are appended together; at least one is given. Many may take some turns. */
export function writeLines(events: readonly AuditEvent[]): Awaitable<string | Buffer> {
  return events.length <= EVENTS_OF_A_TEXT ? textOf(events) : new Yielder().run(writeBytes(events));
}

/** Bit by bit: a text of many mebibytes lies in the engine's heap until all of that is looked through. */
function* writeBytes(events: readonly AuditEvent[]): Work<Buffer> {
  let bytes = Buffer.alloc(0);
  let end = 0;
  for (let first = 0; first < events.length; first += EVENTS_OF_A_TEXT) {
    const text = textOf(events.slice(first, first + EVENTS_OF_A_TEXT));
    const isLast = first + EVENTS_OF_A_TEXT >= events.length;
    const part = isLast ? text : text.slice(0, -ENDS.length) + CONTINUES;
    const length = Buffer.byteLength(part);
    if (bytes.length - end < length) {
      // What is left is taken to be about as long, so that one buffer does for most batches.
      const partsLeft = (events.length - first) / EVENTS_OF_A_TEXT;
      const longer = Buffer.allocUnsafeSlow(end + Math.ceil(length * Math.max(1, partsLeft) * 1.1));
      bytes.copy(longer, 0, 0, end);
      bytes = longer;
    }
    end += bytes.write(part, end, length === part.length ? "latin1" : "utf8"); // ASCII needs no encoder
    yield;
  }
  return bytes.subarray(0, end);
}

function textOf(events: readonly AuditEvent[]): string {
  const json = JSON.stringify(events);
  const text = json.slice(1, -1).replaceAll(BETWEEN, BETWEEN_LINES);
  // Each cut makes the text longer; there are fewer of them where an id does not come first.
  const growth = (events.length - 1) * (BETWEEN_LINES.length - BETWEEN.length);
  if (text.length === json.length - "[]".length + growth) return text + ENDS;
  return events.map((event) => JSON.stringify(event)).join(CONTINUES) + ENDS;
}

/**
 * Makes the elements of a JSON list of lines that were appended together: in place, since the space
 * that says that an append goes on is where the comma belongs.
 */
export function linesAsList(lines: Buffer): Buffer {
  const last = lines.length - ENDS.length;
  for (let at = lines.indexOf(NEWLINE); at !== -1 && at < last;) {
    lines[at - 1] = COMMA;
    at = lines.indexOf(NEWLINE, at + 1);
  }
  return lines.subarray(0, last);
}

/** Cuts lines that were appended together; the last one may lack its newline. */
export function splitLines(lines: string | Buffer): Buffer[] {
  const bytes = typeof lines === "string" ? Buffer.from(lines) : lines;
  const found: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    found.push(withoutBlanks(bytes.subarray(start, end)));
    start = end + 1;
  }
  return found;
}

/** Makes the elements of a JSON list of lines, a few at a time. */
export function* joinLines(lines: readonly Buffer[]): Work<Buffer> {
  const joined = Buffer.allocUnsafe(lines.reduce((sum, { length }) => sum + length + 1, -1));
  let end = 0;
  for (const [i, line] of lines.entries()) {
    if (i > 0) joined[end++] = COMMA;
    end += line.copy(joined, end);
    if (i % EVENTS_OF_A_TEXT === 0) yield;
  }
  return joined;
}

/**
 * Reads a line back.
 *
 * @returns `undefined` when it is no event of that organization: damaged, or put there by mistake
 */
export function readLine(line: Buffer, organization: string): AuditEvent | undefined {
  if (!isUtf8(line)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["organization_id"] !== organization) return undefined;
  if (typeof value["id"] !== "string" || typeof value["timestamp"] !== "string") return undefined;
  return parseTimestamp(value["timestamp"]) === undefined ? undefined : (value as AuditEvent);
}

const ID_FIRST = '{"id":"';

/** The id in a line, without reading the rest of it where it comes first and needs no unescaping. */
export function idOf(line: Buffer): string {
  const end = line.indexOf(QUOTE, ID_FIRST.length);
  const id = line.toString("utf8", ID_FIRST.length, end);
  const isFirst = line.toString("latin1", 0, ID_FIRST.length) === ID_FIRST;
  if (isFirst && end !== -1 && !id.includes("\\")) return id;
  return (JSON.parse(line.toString("utf8")) as AuditEvent).id;
}

/** Cuts bytes that begin with a line to that line, which a newline ends, or a hole of zeros. */
export function firstLine(bytes: Buffer): Buffer {
  const end = endOfLine(bytes);
  return withoutBlanks(end === -1 ? bytes : bytes.subarray(0, end));
}

/** Does the same for a line that is given in parts; white space at its end is held back. */
export class LineParts {
  #blanks: Buffer = Buffer.alloc(0);
  #isOver = false;

  /** What a part adds to the line; `undefined` when the line is over. */
  take(part: Buffer): Buffer | undefined {
    if (this.#isOver) return undefined;
    const end = endOfLine(part);
    this.#isOver = end !== -1;
    const bytes = Buffer.concat([this.#blanks, end === -1 ? part : part.subarray(0, end)]);
    const line = withoutBlanks(bytes);
    this.#blanks = bytes.subarray(line.length);
    return line;
  }
}

/** Where a newline or a hole ends the line; -1 if neither is there. */
function endOfLine(bytes: Buffer): number {
  const newline = bytes.indexOf(NEWLINE);
  const hole = bytes.indexOf(0);
  return newline === -1 || hole === -1 ? Math.max(newline, hole) : Math.min(newline, hole);
}

function withoutBlanks(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] as number) <= 0x20) end--;
  return bytes.subarray(0, end);
}
