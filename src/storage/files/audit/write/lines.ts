/**
 * Writes events as lines of the log, and reads them back. A line is the event exactly as it is answered, so
 * one pass of `JSON.stringify` serves both: a batch is written as one list, and then cut between the events.
 * Events are flat, their id comes first, and quotes within values are escaped, so the text between two events
 * cannot occur inside one. The answer to a batch consists of the same bytes that were written.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { EVENT_FIELDS } from "../../../../audit/event-fields.ts";
import { auditEvent, type AuditEvent } from "../../../../audit/schema.ts";
import type { Awaitable } from "../../../../core/caller.ts";
import { canonicalTimestamp, parseTimestamp } from "../../../../core/time.ts";
import { isObject } from "../../../../core/validate.ts";
import { CONTINUES, ENDS } from "../../../log-lines.ts";
import type { Work } from "../../../../core/scheduling/work.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";

const BETWEEN = '},{"id":"';
const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;
const NEWLINE = 0x0a;

/**
 * The most events that are written as one text, within some 0.3 ms. Larger batches are written as bytes, from
 * texts of this many events.
 */
const EVENTS_OF_A_TEXT = 64;

/** Writes events (at least one) as lines that are appended together. Many events may take some turns. */
export function writeLines(events: readonly AuditEvent[]): Awaitable<string | Buffer> {
  return events.length <= EVENTS_OF_A_TEXT ? textOf(events) : new Yielder().run(writeBytes(events));
}

/**
 * Writes a large batch in parts: a text of many mebibytes would stay in the heap until a full garbage
 * collection. Each line is written by itself, since joining them first would copy every text twice more.
 */
function* writeBytes(events: readonly AuditEvent[]): Work<Buffer> {
  let bytes = Buffer.alloc(0);
  let end = 0;
  for (let first = 0; first < events.length; first += EVENTS_OF_A_TEXT) {
    const lines = jsonOf(events.slice(first, first + EVENTS_OF_A_TEXT));
    const length = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + CONTINUES.length, 0);
    const units = lines.reduce((sum, line) => sum + line.length + CONTINUES.length, 0);
    if (bytes.length - end < length) {
      // Assumes that the remaining texts are about as long, so that one buffer is enough for most batches.
      const partsLeft = (events.length - first) / EVENTS_OF_A_TEXT;
      const longer = Buffer.allocUnsafeSlow(end + Math.ceil(length * Math.max(1, partsLeft) * 1.1));
      bytes.copy(longer, 0, 0, end);
      bytes = longer;
    }
    for (const line of lines) {
      end += bytes.write(line, end, length === units ? "latin1" : "utf8"); // ASCII needs no encoder
      bytes[end++] = SPACE;
      bytes[end++] = NEWLINE;
    }
    yield;
  }
  bytes[end - CONTINUES.length] = NEWLINE;
  return bytes.subarray(0, end - CONTINUES.length + ENDS.length);
}

function textOf(events: readonly AuditEvent[]): string {
  return jsonOf(events).join(CONTINUES) + ENDS;
}

/** The JSON of each event. */
function jsonOf(events: readonly AuditEvent[]): readonly string[] {
  const json = JSON.stringify(events);
  const texts: string[] = [];
  let start = 1;
  for (let cut = json.indexOf(BETWEEN); cut !== -1; cut = json.indexOf(BETWEEN, start)) {
    texts.push(json.slice(start, cut + 1));
    start = cut + 2;
  }
  texts.push(json.slice(start, -1));
  // There are fewer cuts if an id does not come first.
  return texts.length === events.length ? texts : events.map((event) => JSON.stringify(event));
}

/** Joins lines without their newlines into bytes that are appended together. */
export function linesAsBytes(lines: readonly Buffer[]): Buffer {
  const [between, ends] = [Buffer.from(CONTINUES), Buffer.from(ENDS)];
  return Buffer.concat([...lines.flatMap((line, i) => (i === 0 ? [line] : [between, line])), ends]);
}

/**
 * Turns lines that were appended together into the elements of a JSON list: in place, since the space that
 * continues an append is where the comma belongs.
 */
export function linesAsList(lines: Buffer): Buffer {
  const last = lines.length - ENDS.length;
  for (let at = lines.indexOf(NEWLINE); at !== -1 && at < last;) {
    lines[at - 1] = COMMA;
    at = lines.indexOf(NEWLINE, at + 1);
  }
  return lines.subarray(0, last);
}

/** The lines that were appended together, one after another; the last one may lack its newline. */
export function* linesIn(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    yield bytes.subarray(start, endOfText(bytes, start, end));
    start = end + 1;
  }
}

/** Turns lines into the elements of a JSON list, a few at a time. */
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

/** The time at which the event of a line arrived, in milliseconds; `undefined` if the line is not an event. */
export function arrivalOf(line: Buffer, organization: string): number | undefined {
  return parseTimestamp(readLine(line, organization)?.ingested_at ?? "");
}

const REQUIRED: ReadonlySet<string> = new Set(auditEvent.required);
/** The fields of an event with the type of their values. */
const TYPES = EVENT_FIELDS.map(({ name, type }) => {
  return { name, type: typeOf(type), isRequired: REQUIRED.has(name) };
});

function typeOf(type: (typeof EVENT_FIELDS)[number]["type"]): "boolean" | "number" | "string" {
  if (type === "boolean") return "boolean";
  return type === "milliseconds" ? "number" : "string";
}

/**
 * Parses a line.
 *
 * @returns `undefined` if it is not an event of that organization, but damaged or misplaced. So is a line in which a
 *   program or a hand wrote a value of another type, or left out one that each event has: all readers rely on both
 */
export function readLine(line: Buffer, organization: string): AuditEvent | undefined {
  const isPlain = isAscii(line);
  if (!isPlain && !isUtf8(line)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line.toString(isPlain ? "latin1" : "utf8")); // thrice as fast for ASCII
  } catch {
    return undefined;
  }
  if (!isObject(value) || value["organization_id"] !== organization) return undefined;
  for (const { name, type, isRequired } of TYPES) {
    const given = value[name];
    if (given === undefined ? isRequired : typeof given !== type) return undefined;
  }
  const event = value as unknown as AuditEvent;
  return timeOf(event.timestamp) === undefined ? undefined : event;
}

const PLAIN = String.raw`[^"\\\x00-\x1f]*`;
const TEXT = String.raw`"${PLAIN}(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})${PLAIN})*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?`;
const keyOf = (names: readonly string[]): string => `"(?:${names.join("|")})":`;
const namesOf = (wanted: string): readonly string[] =>
  TYPES.flatMap(({ name, type }) => (type === wanted && !FIRST_NAMES.includes(name) ? [name] : []));
const FIRST_NAMES: readonly string[] = ["id", "organization_id", "timestamp"];
/** A member of an event that another version may have written. */
const OTHER = `(?!${keyOf(TYPES.map(({ name }) => name))})"[a-z_]+":(?:${TEXT}|${NUMBER}|true|false|null)`;
const MEMBER = [
  `${keyOf(namesOf("string"))}${TEXT}`,
  `${keyOf(namesOf("boolean"))}(?:true|false)`,
  `${keyOf(namesOf("number"))}${NUMBER}`,
  OTHER,
].join("|");
/** A JSON object as events are written: first the fields that tell whose event it is, each once, and no value within another. */
const WRITTEN = new RegExp(
  String.raw`^\{"id":"${PLAIN}","organization_id":"(${PLAIN})","timestamp":"(${PLAIN})"` +
    String.raw`(?:,(?:${MEMBER}))*\}$`,
);

const REQUIRED_KEYS = auditEvent.required
  .filter((name) => !FIRST_NAMES.includes(name))
  .map((name) => `,"${name}":`);

/** The longest line for `WRITTEN`: each escape in a line takes room on the stack of the expression. */
const MOST_WRITTEN = 64 << 10;

/** Whether `readLine` returns an event. For a line as this service writes it, three times as fast. */
export function isEventLine(line: Buffer, organization: string): boolean {
  const isUsual = line.length <= MOST_WRITTEN && isAscii(line);
  const written = isUsual ? WRITTEN.exec(line.toString("latin1")) : null;
  if (written === null) return readLine(line, organization) !== undefined;
  const [text, owner, timestamp = ""] = written;
  return (
    owner === organization &&
    canonicalTimestamp(timestamp) !== undefined &&
    REQUIRED_KEYS.every((key) => text.includes(key)) // within a text a quote has a backslash
  );
}

/** The error for lines of which one is not a line with an event of an organization; `undefined` if all are. */
export function foreignLine(lines: readonly Buffer[], organization: string): Error | undefined {
  const isForeign = (line: Buffer) => line.includes("\n") || !isEventLine(line, organization);
  if (!lines.some(isForeign)) return undefined;
  const message = `"${organization}": a stored event is not one of it, as one line of JSON`;
  return new Error(`${message}: see "signalbox verify"`);
}

const ID_FIRST = '{"id":"';

/** The id in a line. Does not read the rest of the line if the id comes first and has no escapes. */
export function idOf(line: Buffer): string {
  const end = line.indexOf(QUOTE, ID_FIRST.length);
  const id = line.toString("utf8", ID_FIRST.length, end);
  const isFirst = line.toString("latin1", 0, ID_FIRST.length) === ID_FIRST;
  if (isFirst && end !== -1 && !id.includes("\\")) return id;
  return (JSON.parse(line.toString("utf8")) as AuditEvent).id;
}

/** Cuts bytes to their first line, which ends at a newline or at a hole of zeros. */
export function firstLine(bytes: Buffer): Buffer {
  return bytes.subarray(0, lengthOfLine(bytes));
}

/** The length of the first line in some bytes. */
export function lengthOfLine(bytes: Buffer): number {
  const end = endOfLine(bytes);
  return endOfText(bytes, 0, end === -1 ? bytes.length : end);
}

/** Does the same for a line that comes in parts; white space at the end of a part is held back. */
export class LineParts {
  #blanks: Buffer = Buffer.alloc(0);
  #isOver = false;

  /** The bytes that a part adds to the line; `undefined` if the line has ended. */
  take(part: Buffer): Buffer | undefined {
    if (this.#isOver) return undefined;
    const end = endOfLine(part);
    this.#isOver = end !== -1;
    const bytes = Buffer.concat([this.#blanks, end === -1 ? part : part.subarray(0, end)]);
    const length = endOfText(bytes, 0, bytes.length);
    this.#blanks = bytes.subarray(length);
    return bytes.subarray(0, length);
  }
}

/** The end of the line, at a newline or a hole; -1 without either. */
function endOfLine(bytes: Buffer): number {
  const newline = bytes.indexOf(NEWLINE);
  const hole = bytes.indexOf(0);
  return newline === -1 || hole === -1 ? Math.max(newline, hole) : Math.min(newline, hole);
}

/** The end of a part of some bytes without the white space at its end. */
function endOfText(bytes: Buffer, start: number, end: number): number {
  let last = end;
  while (last > start && (bytes[last - 1] as number) <= 0x20) last--;
  return last;
}

let lastTimestamp: string | undefined;
let lastTime: number | undefined;

/** A timestamp in milliseconds; `undefined` for another text. Caches the last one, which many events share. */
export function timeOf(timestamp: string): number | undefined {
  if (timestamp !== lastTimestamp) {
    const stored = canonicalTimestamp(timestamp);
    lastTime = stored === undefined ? undefined : Date.parse(stored); // which reads other forms in other ways
    lastTimestamp = timestamp;
  }
  return lastTime;
}
