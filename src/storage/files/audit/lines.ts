/**
 * Events as lines of the log, and back. A line is the event as it is answered, byte for byte, so one
 * pass of `JSON.stringify` serves both: a batch is written as one list, and then cut where an event
 * ends and the next begins. Events are flat, their id comes first, and quotes within values are
 * escaped, so the text between two events cannot occur inside one.
 */
import { isUtf8 } from "node:buffer";
import type { AuditEvent } from "../../../audit/schema.ts";
import { parseTimestamp } from "../../../core/time.ts";
import { isObject } from "../../../core/validate.ts";
import { CONTINUES, ENDS } from "../../log-lines.ts";

const BETWEEN = '},{"id":"';
const BETWEEN_LINES = `}${CONTINUES}{"id":"`;

/** Events as they are answered and as they are logged. */
export interface EventLines {
  /** The events as JSON objects, joined by commas. */
  readonly json: string;
  /** The same, one on each line. */
  readonly text: string;
  /** Where each event begins in `text`, and after the last of them where one more would: UTF-16 units. */
  readonly starts: readonly number[];
}

/** Writes events; at least one is given. */
export function writeLines(events: readonly AuditEvent[]): EventLines {
  const [first] = events;
  if (first !== undefined && events.length === 1) {
    const json = JSON.stringify(first);
    return { json, text: json + ENDS, starts: [0, json.length + CONTINUES.length] };
  }
  const json = JSON.stringify(events).slice(1, -1);
  const starts = findStarts(json);
  if (starts.length === events.length + 1) {
    return { json, text: json.replaceAll(BETWEEN, BETWEEN_LINES) + ENDS, starts };
  }
  return joinLines(events.map((event) => JSON.stringify(event)));
}

function findStarts(json: string): number[] {
  const starts = [0];
  for (let at = json.indexOf(BETWEEN); at !== -1; at = json.indexOf(BETWEEN, at + 1)) {
    // A comma becomes a space and a newline: each line before this one has made the text longer.
    starts.push(at + 1 + CONTINUES.length + (starts.length - 1) * (CONTINUES.length - 1));
  }
  starts.push(json.length + CONTINUES.length + (starts.length - 1) * (CONTINUES.length - 1));
  return starts;
}

/** The slow way, for events whose id does not come first. */
function joinLines(rows: readonly string[]): EventLines {
  const starts = [0];
  for (const row of rows) starts.push((starts.at(-1) ?? 0) + row.length + CONTINUES.length);
  return { json: rows.join(","), text: rows.join(CONTINUES) + ENDS, starts };
}

/** Where each event of some lines begins, and how long it is, in bytes from the start of the text. */
export function byteRanges(
  lines: EventLines,
  bytes: number,
): readonly { readonly start: number; readonly length: number }[] {
  const { text, starts } = lines;
  const isAscii = bytes === text.length;
  let at = 0;
  return starts.slice(0, -1).map((from, index) => {
    const to = (starts[index + 1] as number) - CONTINUES.length;
    const start = at;
    const length = isAscii ? to - from : Buffer.byteLength(text.slice(from, to), "utf8");
    at += length + CONTINUES.length;
    return { start, length };
  });
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

/** The id in a line, without reading the rest of it where it comes first and needs no unescaping. */
export function idOf(line: Buffer): string | undefined {
  const start = '{"id":"'.length;
  const text = line.toString("latin1", 0, 160);
  const end = text.indexOf('"', start);
  const id = text.slice(start, end);
  if (text.startsWith('{"id":"') && end !== -1 && !id.includes("\\")) return id;
  return (JSON.parse(line.toString("utf8")) as AuditEvent).id;
}

/** Cuts bytes that begin with a line to that line, which a newline ends, or a hole of zeros. */
export function firstLine(bytes: Buffer): Buffer {
  let end = bytes.indexOf(0x0a);
  if (end === -1) end = bytes.length;
  const hole = bytes.indexOf(0);
  if (hole !== -1 && hole < end) end = hole;
  while (end > 0 && (bytes[end - 1] as number) <= 0x20) end--;
  return bytes.subarray(0, end);
}
