/**
 * A reader of events as they arrive. It remembers the last row that it has read, and reads later rows from the log
 * until there are no more. From then on, within the same turn of the loop, each event is passed to it as it is
 * stored. So there is neither a gap nor a duplicate between the two phases. A bounded number of passed events wait
 * for the reader. Beyond it the tail reads the log again, so a slow reader does not cost more memory.
 */
import {
  EXCLUDED_FIELDS,
  excluding,
  FILTERED_FIELDS,
  SEARCHED_FIELDS,
} from "../../../../audit/event-fields.ts";
import type { AuditEvent } from "../../../../audit/schema.ts";
import { LONG_READ_BYTES, LONG_READS, withinASecond } from "../../../../audit/long-reads.ts";
import { wildcardTest } from "../../../../audit/wildcards.ts";
import type { Arrival, AuditFilter, AuditTail, Position } from "../../../../audit/store.ts";
import type { Awaitable } from "../../../../core/caller.ts";
import type { Party } from "../../../../core/scheduling/fair-share.ts";
import { containing } from "../../../../core/long-needle.ts";
import { Turns } from "../../../../core/scheduling/turns.ts";
import { ownTurn, Yielder } from "../../../../core/scheduling/yielder.ts";
import { timeOf } from "../write/lines.ts";
import type { GlobalRow } from "../index/segment-index.ts";
import { streamPosition } from "../../../../audit/positions.ts";

const READ_ROWS = 256;
/** The most bytes that wait for a reader. */
const MOST_BYTES = LONG_READ_BYTES;

/** If all tails together would read more characters for one event, they compare it with their filters in turns of their own. */
const MOST_COMPARED = 64 << 10;
/** The characters that are read in the time of a search in a short text: between two asterisks there is one for each piece. */
const SEARCH_CHARACTERS = 32;

/** The reads of tails that run at a time. The limits of short ones are the same, but no reader keeps their turns. */
const shortReads = new Turns(LONG_READS);
const longReads = new Turns(LONG_READS);

/** An event for the reader. */
interface Handed {
  readonly arrival: Arrival;
  /** The event, if it is not yet compared with the filter. */
  readonly unread: AuditEvent | undefined;
}

/** The source of a tail. */
export interface TailSource {
  /**
   * The next rows after a row: at most `count` rows with `bytes` bytes in all, and at least one if there is
   * any.
   */
  rowsAfter(row: GlobalRow, count: number, bytes: number): readonly GlobalRow[];
  /** The length of a row's line; 0 if it was removed. */
  bytesOf(row: GlobalRow): number;
  /** The lines of some rows. */
  readRows(rows: readonly GlobalRow[]): Promise<readonly Buffer[]>;
  /** The tails that are read: each is offered every event as it is stored. */
  readonly tails: Set<Tail>;
}

/** Delivers the events after a row to one reader, in the order of ingest. */
export class Tail implements AuditTail {
  readonly start: Position;
  readonly #tests: readonly EventTest[];
  readonly #workOf: (length: number) => number;
  readonly #open: () => Awaitable<TailSource>;
  readonly #reader: Party;
  #at: GlobalRow;
  /** Whether the tail has read every row, so that the next event is passed to it. */
  #isLive = false;
  #waiting: Handed[] = [];
  #waitingBytes = 0;
  #isClosed = false;
  /** Ends the turn of the last read. */
  #endTurn = (): void => {};
  #wake = (): void => {};

  /**
   * @param reader the party whose turns the reads take
   */
  constructor(
    filter: AuditFilter,
    after: GlobalRow,
    open: () => Awaitable<TailSource>,
    reader: Party,
  ) {
    this.start = streamPosition(after);
    this.#tests = testsOf(filter);
    this.#workOf = workOf(filter);
    this.#at = after;
    this.#open = open;
    this.#reader = reader;
  }

  async *arrivals(signal: AbortSignal): AsyncGenerator<readonly Arrival[]> {
    const leave = (): void => this.#wake();
    const source = await this.#open();
    source.tails.add(this);
    signal.addEventListener("abort", leave);
    try {
      while (!signal.aborted && !this.#isClosed) {
        const handed = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        const wanted = await this.#wantedOf(handed);
        if (signal.aborted) return;
        if (wanted.length > 0) yield wanted;
        this.#endTurn();
        if (handed.length > 0) continue;
        if (this.#isLive) await new Promise<void>((resolve) => (this.#wake = resolve));
        else await this.#readOn(source, signal);
      }
    } finally {
      signal.removeEventListener("abort", leave);
      source.tails.delete(this);
      this.#endTurn();
    }
  }

  /** Takes an event as it is stored; the arrival may be kept. `tails` are offered the event. */
  offer(row: GlobalRow, event: AuditEvent, arrival: Arrival, tails: number): void {
    if (!this.#isLive || row <= this.#at) return;
    const isLong = this.#workOf(arrival.json.length) * tails > MOST_COMPARED;
    const isWanted = isLong || this.#tests.every((matches) => matches(event));
    if (isWanted && this.#waitingBytes > MOST_BYTES) this.#isLive = false;
    else {
      this.#at = row;
      if (isWanted) this.#hand(arrival, isLong ? event : undefined);
    }
  }

  /** Ends the tail. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #hand(arrival: Arrival, unread?: AuditEvent): void {
    this.#waiting.push({ arrival, unread });
    this.#waitingBytes += arrival.json.length;
    this.#wake();
  }

  /** The events that match the filter. */
  async #wantedOf(handed: readonly Handed[]): Promise<readonly Arrival[]> {
    if (handed.some(({ unread }) => unread)) await ownTurn(this.#reader);
    const yielder = new Yielder(undefined, this.#reader);
    const wanted: Arrival[] = [];
    for (const { arrival, unread } of handed) {
      if (!unread || (await this.#isWanted(unread, yielder))) wanted.push(arrival);
    }
    return wanted;
  }

  /** Whether an event matches the filter, in slices. */
  async #isWanted(event: AuditEvent, yielder: Yielder): Promise<boolean> {
    for (const matches of this.#tests) {
      if (yielder.isDue) await yielder.step();
      if (!matches(event)) return false;
    }
    return true;
  }

  async #readOn(source: TailSource, signal: AbortSignal): Promise<void> {
    const [next] = source.rowsAfter(this.#at, 1, LONG_READ_BYTES);
    if (next === undefined) {
      this.#isLive = true;
      return;
    }
    const isLong = source.bytesOf(next) > LONG_READ_BYTES;
    const reads = isLong ? longReads : shortReads;
    const end = await reads.wait(this.#reader, signal).catch(() => undefined);
    if (end === undefined) return; // the reader has left
    this.#endTurn = isLong ? withinASecond(end) : end;
    if (this.#isClosed) return;
    const rows = source.rowsAfter(this.#at, isLong ? 1 : READ_ROWS, LONG_READ_BYTES);
    const lines = await source.readRows(rows);
    const takesAll = this.#tests.length === 0;
    if (!takesAll) await ownTurn(this.#reader);
    const yielder = new Yielder(undefined, this.#reader);
    for (const [i, row] of rows.entries()) {
      const line = lines[i] as Buffer;
      if (!takesAll) await yielder.step();
      this.#at = row;
      const isWanted =
        takesAll ||
        (await this.#isWanted(JSON.parse(line.toString("utf8")) as AuditEvent, yielder));
      if (isWanted) this.#hand({ position: streamPosition(row), json: line });
    }
    if (!isLong) this.#endTurn(); // a filter takes longer than the read
  }
}

/** A part of a filter, as a test of single events without an index. */
type EventTest = (event: AuditEvent) => boolean;

/** The tests that an event of a filter passes: first those that compare little. */
function testsOf(filter: AuditFilter): readonly EventTest[] {
  const tests: EventTest[] = [];
  for (const { name, filter: parameter } of FILTERED_FIELDS) {
    const wanted = filter[parameter];
    if (wanted !== undefined) tests.push((event) => event[name] === wanted);
  }
  for (const { name, filter: parameter } of EXCLUDED_FIELDS) {
    const unwanted = filter[excluding(parameter)];
    if (unwanted !== undefined) tests.push((event) => event[name] !== unwanted);
  }
  const { q = "", reason = "", from = -Infinity, to = Infinity, wildcards = [] } = filter;
  if (from > -Infinity || to < Infinity) {
    tests.push(({ timestamp }) => {
      const time = timeOf(timestamp) ?? 0;
      return time >= from && time < to;
    });
  }
  for (const { field, text, isExcluded } of wildcards) {
    const test = wildcardTest(text);
    tests.push((event) => test(event[field]) !== isExcluded);
  }
  if (reason !== "") {
    const isHeld = containing(reason.toLowerCase());
    tests.push((event) => isHeld(event.reason?.toLowerCase() ?? ""));
  }
  if (q !== "") {
    const isHeld = containing(q.toLowerCase());
    tests.push((event) => SEARCHED_FIELDS.some((name) => isHeld(event[name]?.toLowerCase() ?? "")));
  }
  return tests;
}

/** The characters that a filter reads in an event with some bytes, and those of its own values. */
function workOf(filter: AuditFilter): (length: number) => number {
  const { q = "", reason = "", wildcards = [] } = filter;
  const texts = [q, reason].filter((text) => text !== "").length + wildcards.length;
  let own = 0;
  for (const value of Object.values(filter)) if (typeof value === "string") own += value.length;
  for (const { text } of wildcards) own += text.length + SEARCH_CHARACTERS * text.split("*").length;
  return (length) => own + texts * length;
}
