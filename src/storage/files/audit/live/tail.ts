/**
 * A reader of events as they arrive. It remembers the last row that it has taken in. Rows beyond that
 * are read from the log until none is left; from that moment on, within the same turn of the loop, each
 * event is handed over as it is stored. So there is neither a gap nor a duplicate between the two. Events
 * that are handed over wait for the reader up to a bound; beyond it the reader goes on by the log, so a
 * slow reader costs no more memory.
 */
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { Arrival, AuditFilter, AuditTail, Position } from "../../../../audit/store.ts";
import type { Awaitable } from "../../../../core/caller.ts";
import { timeOf } from "../index/canonical-time.ts";
import { streamPosition } from "../positions.ts";

const READ_ROWS = 256;
/** An event may be some MiB long, and many tails may read at once. */
const MOST_BYTES = 64 << 10;

/** What a tail reads from. */
export interface TailSource {
  /** The next rows after a row: at least one if there is one, and at most so many or so long. */
  rowsAfter(row: number, count: number, bytes: number): readonly number[];
  /** The lines of rows. */
  readRows(rows: readonly number[]): Promise<readonly Buffer[]>;
  /** Begins to offer events to a tail. */
  attach(tail: Tail): void;
  detach(tail: Tail): void;
}

/** Gives one reader the events after a row, in the order of ingest. */
export class Tail implements AuditTail {
  readonly start: Position;
  readonly #filter: AuditFilter;
  readonly #takesAll: boolean;
  readonly #open: () => Awaitable<TailSource>;
  #at: number;
  /** Whether every row up to now was taken in, so that the next one is handed over. */
  #isLive = false;
  #waiting: Arrival[] = [];
  #waitingBytes = 0;
  #isClosed = false;
  #wake = (): void => {};

  constructor(filter: AuditFilter, after: number, open: () => Awaitable<TailSource>) {
    this.start = streamPosition(after);
    this.#filter = filter;
    this.#takesAll = Object.values(filter).every((wanted) => wanted === undefined);
    this.#at = after;
    this.#open = open;
  }

  async *arrivals(signal: AbortSignal): AsyncGenerator<Arrival> {
    const leave = (): void => this.#wake();
    const source = await this.#open();
    source.attach(this);
    signal.addEventListener("abort", leave);
    try {
      while (!signal.aborted && !this.#isClosed) {
        const arrived = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        for (const arrival of arrived) {
          yield arrival;
          if (signal.aborted) return;
        }
        if (arrived.length > 0) continue;
        if (this.#isLive) await new Promise<void>((resolve) => (this.#wake = resolve));
        else await this.#readOn(source);
      }
    } finally {
      signal.removeEventListener("abort", leave);
      source.detach(this);
    }
  }

  /** Takes an event when it is stored, and its line, which may be kept. */
  offer(row: number, event: AuditEvent, line: Buffer): void {
    if (!this.#isLive || row <= this.#at) return;
    const isWanted = this.#takesAll || matchesEvent(event, this.#filter);
    if (isWanted && this.#waitingBytes > MOST_BYTES) this.#isLive = false;
    else {
      this.#at = row;
      if (isWanted) this.#hand(row, line);
    }
  }

  /** Ends the reading. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #hand(row: number, json: Buffer): void {
    this.#waiting.push({ position: streamPosition(row), json });
    this.#waitingBytes += json.length;
    this.#wake();
  }

  async #readOn(source: TailSource): Promise<void> {
    const rows = source.rowsAfter(this.#at, READ_ROWS, MOST_BYTES);
    if (rows.length === 0) {
      this.#isLive = true;
      return;
    }
    const lines = await source.readRows(rows);
    for (const [i, row] of rows.entries()) {
      const line = lines[i] as Buffer;
      this.#at = row;
      if (this.#takesAll || this.#matches(line)) this.#hand(row, line);
    }
  }

  #matches(line: Buffer): boolean {
    return matchesEvent(JSON.parse(line.toString("utf8")) as AuditEvent, this.#filter);
  }
}

/** Whether an event matches a filter: the rule in plain words, for events one by one. */
export function matchesEvent(event: AuditEvent, filter: AuditFilter): boolean {
  const is = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || value === wanted;
  if (
    !is(filter.decision, event.policy_decision) ||
    !is(filter.provider, event.provider) ||
    !is(filter.consumer, event.consumer) ||
    !is(filter.executor, event.executor) ||
    !is(filter.capability, event.capability) ||
    !is(filter.status, event.status) ||
    !is(filter.runtime, event.runtime_name) ||
    !is(filter.trace_id, event.trace_id) ||
    !is(filter.policy, event.policy) ||
    !is(filter.reported_by, event.reported_by)
  ) {
    return false;
  }
  const { q, from = -Infinity, to = Infinity } = filter;
  const time = timeOf(event.timestamp);
  return (
    time >= from && time < to && (q === undefined || q === "" || holds(event, q.toLowerCase()))
  );
}

function holds(event: AuditEvent, lower: string): boolean {
  const { command, executor, resource, provider, capability } = event;
  return [command, executor, resource, provider, capability].some((text) =>
    text?.toLowerCase().includes(lower),
  );
}
