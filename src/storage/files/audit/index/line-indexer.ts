/**
 * Turns bytes of the log into rows of an index. Lines that were just acknowledged and lines that are read
 * back at start take the same path, so a restart finds the same events as before.
 */
import { isUtf8 } from "node:buffer";
import { EVENT_FIELDS, type EventFieldType } from "../../../../audit/event-fields.ts";
import { eachLine, isBlankByte, type TakeLine } from "../../../log-lines.ts";
import type { GrowingIndex } from "./growing-index.ts";
import { LineScanner } from "./line-scanner.ts";
import { formatTimestamp, parseTimestamp } from "../../../../core/time.ts";
import { readLine } from "../write/lines.ts";
import { CONSUMERS, DECISIONS } from "./fields.ts";

const NEWLINE = 0x0a;

/** Indexes the lines of one organization. */
export class LineIndexer {
  readonly #organization: string;
  readonly #scanner: LineScanner;

  constructor(organization: string) {
    this.#organization = organization;
    this.#scanner = new LineScanner(organization);
  }

  /**
   * Adds whole lines, each of which ends in a newline; empty ones are skipped.
   *
   * @param offset where the bytes begin in the log
   * @param damaged takes lines that are not events of this organization
   */
  add(index: GrowingIndex, bytes: Buffer, offset: number, damaged: TakeLine): void {
    const isText = isUtf8(bytes);
    this.#scanner.open(bytes);
    for (let start = 0; start < bytes.length;) {
      const end = isText ? this.#scanner.scan(start) : -1;
      let newline = end === -1 ? start : afterBlanks(bytes, end);
      if (end !== -1 && bytes[newline] === NEWLINE) {
        index.add(this.#scanner, offset + start, offset + end);
      } else {
        newline = bytes.indexOf(NEWLINE, start);
        eachLine(bytes.subarray(start, newline + 1), offset + start, (line, at) => {
          if (!this.#addOther(index, line, at)) damaged(line, at);
        });
        this.#scanner.open(bytes);
      }
      start = newline + 1;
    }
  }

  /** Adds a line that is not in the canonical form; `false` when it is not an event. */
  #addOther(index: GrowingIndex, line: Buffer, offset: number): boolean {
    const canonical = inCanonicalForm(line, this.#organization);
    if (canonical === undefined) return false;
    this.#scanner.open(canonical);
    if (this.#scanner.scan(0) === -1) return false;
    index.add(this.#scanner, offset, offset + line.length);
    return true;
  }
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlankByte(bytes[at])) at++;
  return at;
}

/**
 * Writes a line in the canonical form, with a newline: the fields of an event that ingest knows, in their
 * order. An editor, `jq` or another version may have written the line differently. It is parsed and written
 * again for the scanner, so that only the scanner feeds the index.
 *
 * @returns `undefined` for a line that is not an event of that organization
 */
export function inCanonicalForm(line: Buffer, organization: string): Buffer | undefined {
  const event: Readonly<Record<string, unknown>> | undefined = readLine(line, organization);
  if (event === undefined) return undefined;
  const known: Record<string, unknown> = {};
  for (const { name, type } of EVENT_FIELDS) known[name] = valueOf(type, event[name]);
  return Buffer.from(`${JSON.stringify(known)}\n`, "utf8");
}

function valueOf(type: EventFieldType, value: unknown): unknown {
  switch (type) {
    case "timestamp":
      return formatTimestamp((typeof value === "string" ? parseTimestamp(value) : 0) ?? 0);
    case "consumer":
      return CONSUMERS.includes(value as string) ? value : undefined;
    case "decision":
      return DECISIONS.includes(value as string) ? value : undefined;
    case "boolean":
      return value === true;
    case "milliseconds":
      return undefined; // not indexed
    default:
      return typeof value === "string" ? value : undefined;
  }
}
