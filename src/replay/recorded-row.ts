/**
 * Reads the fields of recorded events from their lines. A decision needs a third of an event's fields, and parsing all
 * of them took as long as everything else, so the fields are only located, and made into texts when they are asked for.
 */
import { isAscii } from "node:buffer";
import { EVENT_FIELDS, recordOf } from "../audit/event-fields.ts";
import type { EXAMPLE_FIELDS } from "./report.ts";

/** The fields of an event that a replay looks at. */
export type RecordedRow = {
  readonly [F in (typeof EXAMPLE_FIELDS)[number] | "policy_decision"]?: string | undefined;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACKET = 0x5b;
const CLOSING_BRACE = 0x7d;
const NEWLINE = 0x0a;

/** The start of each field in a line, in the order in which the service writes them. */
const STARTS = EVENT_FIELDS.map(({ name }) => Buffer.from(`"${name}":`));
const PLACES = recordOf(EVENT_FIELDS.map(({ name }, at) => [name, at]));

/**
 * Calls `take` with the row in each line, and returns the number of lines. A row is valid only during the call.
 *
 * @param lines whole lines, each with its newline
 */
export function eachRow(lines: Buffer, take: (row: RecordedRow) => void): number {
  const written = new WrittenRow(lines);
  let count = 0;
  for (let start = 0; start < lines.length; count++) {
    const end = lines.indexOf(NEWLINE, start);
    const isLocated = written.locate(start, end);
    take(isLocated ? written : (JSON.parse(lines.toString("utf8", start, end)) as RecordedRow));
    start = end + 1;
  }
  return count;
}

/** The row in a line that is written as the service writes it. */
class WrittenRow implements RecordedRow {
  readonly #bytes: Buffer;
  readonly #isAscii: boolean;
  /** By field: the first byte of a text, and the one after its last; 0 for a field that the row lacks. */
  readonly #from = new Uint32Array(STARTS.length);
  readonly #to = new Uint32Array(STARTS.length);
  /** By field: 1 for a text with escapes. */
  readonly #isEscaped = new Uint8Array(STARTS.length);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#isAscii = isAscii(bytes);
  }

  /** Finds the texts in a line; `false` if it is written in another way, with spaces or unknown fields. */
  locate(start: number, end: number): boolean {
    const bytes = this.#bytes;
    this.#from.fill(0);
    if (bytes[start] !== BRACE) return false;
    let at = start;
    let next = 0;
    do {
      const field = this.#fieldAt(++at, next);
      if (field === -1) return false;
      next = field + 1;
      at += (STARTS[field] as Buffer).length;
      const first = bytes[at];
      if (first === BRACE || first === BRACKET) return false;
      if (first === QUOTE) {
        const from = ++at;
        let isEscaped = 0;
        for (; at < end; at++) {
          const byte = bytes[at] as number;
          if (byte > BACKSLASH) continue; // a small letter, as most bytes are
          if (byte === QUOTE) break;
          if (byte === BACKSLASH) {
            isEscaped = 1;
            at++;
          }
        }
        if (at >= end) return false;
        this.#from[field] = from;
        this.#to[field] = at++;
        this.#isEscaped[field] = isEscaped;
      } else {
        while (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSING_BRACE) at++;
      }
    } while (bytes[at] === COMMA);
    return bytes[at] === CLOSING_BRACE && at + 1 === end;
  }

  /** The field that begins here, or -1. Fields come in their order, each at most once. */
  #fieldAt(at: number, next: number): number {
    const bytes = this.#bytes;
    for (let field = next; field < STARTS.length; field++) {
      const start = STARTS[field] as Buffer;
      let same = 0;
      while (same < start.length && bytes[at + same] === start[same]) same++;
      if (same === start.length) return field;
    }
    return -1;
  }

  get id(): string | undefined {
    return this.#text(PLACES.id);
  }

  get timestamp(): string | undefined {
    return this.#text(PLACES.timestamp);
  }

  get command(): string | undefined {
    return this.#text(PLACES.command);
  }

  get provider(): string | undefined {
    return this.#text(PLACES.provider);
  }

  get capability(): string | undefined {
    return this.#text(PLACES.capability);
  }

  get consumer(): string | undefined {
    return this.#text(PLACES.consumer);
  }

  get executor(): string | undefined {
    return this.#text(PLACES.executor);
  }

  get resource(): string | undefined {
    return this.#text(PLACES.resource);
  }

  get runtime_name(): string | undefined {
    return this.#text(PLACES.runtime_name);
  }

  get policy(): string | undefined {
    return this.#text(PLACES.policy);
  }

  get policy_decision(): string | undefined {
    return this.#text(PLACES.policy_decision);
  }

  #text(field: number): string | undefined {
    const from = this.#from[field] as number;
    const to = this.#to[field] as number;
    if (from === 0) return undefined;
    if (this.#isEscaped[field] === 1) {
      return JSON.parse(this.#bytes.toString("utf8", from - 1, to + 1)) as string;
    }
    return this.#bytes.toString(this.#isAscii ? "latin1" : "utf8", from, to); // thrice as fast for ASCII
  }
}
