/**
 * Follows events as any server stores them. The row number of an organization's newest event is its change
 * counter. While streams wait, one query reads the counters of all their organizations. Events that this
 * server stores wake its streams without a query.
 */
import type { Arrival, AuditFilter, AuditTail } from "../../../audit/store.ts";
import { LONG_READ_BYTES } from "../../../audit/long-reads.ts";
import { streamPosition } from "../../../audit/positions.ts";
import type { Party } from "../../../core/fair-share.ts";
import { clearTimeout, setTimeout } from "../../../core/timers.ts";
import { Turns } from "../../../core/turns.ts";
import type { Database, Statements } from "../database.ts";
import { LongEvents, type LongEvent } from "./long-events.ts";
import { readShortPortion } from "./portions.ts";

const ASK_EVERY_MS = 200;
const READ = { rows: 256, bytes: LONG_READ_BYTES };
/** Larger ranges of rows are read as searches, which may take longer. */
const MANY_ROWS = 10_000;

/**
 * The reads of short events, and of the row numbers of long ones, that run at a time. A filter may have to look through long
 * texts for a long text: with a read for each of the 100 streams of one client, every other request waited some seconds for
 * a connection. In an organization its prefixes take turns: otherwise the streams of its users wait for those of anonymous
 * clients. Those that wait are no more than the streams.
 */
const READS = {
  atOnce: 2,
  atOnceOfOne: 1,
  atOnceOfGroups: [1],
  waiting: Infinity,
  areShort: true,
} as const;

/** The events that a stream asks for. */
interface Followed {
  readonly organization: string;
  /** The surface whose turns the stream takes. */
  readonly surface: string;
  readonly filter: AuditFilter;
}

interface Found extends Arrival {
  readonly row: number;
}

/** The next events of a stream: short ones, or the row number of a long one. */
type Portion = readonly Found[] | LongEvent;

/** Streams that wait for a row of an organization. */
interface Waiting {
  last: number;
  /** Whether the newest row went back, as after a fail-over that lost some: row numbers then mean other events. */
  isOver: boolean;
  readonly wakes: Set<() => void>;
}

/** A read under way for some streams. It ends when all of them have left. */
interface SharedRead {
  readonly found: Promise<Portion>;
  readonly left: AbortController;
  streams: number;
}

/** Wakes the streams of this server when events were stored. */
export class Arrivals {
  readonly #database: Database;
  readonly #waiting = new Map<string, Waiting>();
  /** Reads under way. */
  readonly #reads = new Map<string, SharedRead>();
  readonly #turns = new Turns(READS);
  readonly #long: LongEvents;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
    this.#long = new LongEvents((...statement) => database.query(...statement));
  }

  /** Call when events of an organization were stored; `last` is the newest row. */
  grown(organization: string, last: number): void {
    const waiting = this.#waiting.get(organization);
    if (waiting === undefined || waiting.last >= last) return;
    waiting.last = last;
    for (const wake of waiting.wakes) wake();
  }

  /** The events after a row; see `AuditTail.arrivals`. The reads take turns of `reader`. */
  tail(
    organization: string,
    filter: AuditFilter,
    after: number,
    reader: Party = ["", organization],
  ): AuditTail {
    const [surface = ""] = reader;
    const followed = { organization, surface, filter };
    const arrivals = (signal: AbortSignal) => this.#follow(followed, after, reader, signal);
    return { start: streamPosition(after), arrivals };
  }

  /** Ends every stream. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { wakes } of this.#waiting.values()) for (const wake of wakes) wake();
  }

  /** Ends the streams of an organization. Their clients continue by position, and are told if it is no longer known. */
  #end(organization: string): void {
    const waiting = this.#waiting.get(organization);
    if (waiting === undefined) return;
    waiting.isOver = true;
    this.#waiting.delete(organization);
    for (const wake of waiting.wakes) wake();
  }

  async *#follow(
    followed: Followed,
    after: number,
    reader: Party,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Arrival[]> {
    const { organization } = followed;
    let at = after;
    const waiting = this.#waiting.get(organization) ?? {
      last: after,
      isOver: false,
      wakes: new Set(),
    };
    this.#waiting.set(organization, waiting);
    const wake = { up: (): void => {} };
    const onWake = (): void => wake.up();
    waiting.wakes.add(onWake);
    signal.addEventListener("abort", onWake);
    try {
      void this.#ask();
      while (!signal.aborted && !this.#isClosed && !waiting.isOver) {
        const { last } = waiting;
        if (last <= at) {
          await new Promise<void>((resolve) => (wake.up = resolve));
          continue;
        }
        const found = await this.#readShared(followed, at, last, signal);
        if (found === undefined) return;
        if (signal.aborted) return;
        if ("row" in found) {
          const position = streamPosition(found.row);
          const lines = this.#long.read(found, reader, signal);
          for await (const json of lines) yield [{ position, json }];
          at = found.row;
          continue;
        }
        if (found.length > 0) yield found;
        at = found.at(-1)?.row ?? last;
      }
    } finally {
      signal.removeEventListener("abort", onWake);
      waiting.wakes.delete(onWake);
      const isKnown = this.#waiting.get(organization) === waiting;
      if (isKnown && waiting.wakes.size === 0) this.#waiting.delete(organization);
    }
  }

  /** Reads events once for all streams that wait for the same rows; `undefined` if `signal` aborts first. */
  async #readShared(
    followed: Followed,
    after: number,
    last: number,
    signal: AbortSignal,
  ): Promise<Portion | undefined> {
    const key = JSON.stringify([followed, after, last]);
    const read = this.#reads.get(key) ?? this.#begin(key, followed, after, last);
    read.streams++;
    const leave = (): void => {
      if (--read.streams > 0) return;
      this.#forget(key, read);
      read.left.abort();
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await read.found;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, followed: Followed, after: number, last: number): SharedRead {
    const { organization, surface } = followed;
    const left = new AbortController();
    const asker = { party: [organization, surface], gone: left.signal };
    const found = this.#turns
      .run(asker, () => this.#read(followed, after, last))
      .finally(() => this.#forget(key, read));
    const read: SharedRead = { found, left, streams: 0 };
    this.#reads.set(key, read);
    return read;
  }

  #forget(key: string, read: SharedRead): void {
    if (this.#reads.get(key) === read) this.#reads.delete(key);
  }

  /** Reads the newest row numbers, at intervals while streams wait. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    const before = new Map([...this.#waiting].map(([id, { last }]) => [id, last]));
    try {
      const rows = await this.#database.query<{ organization_id: string; last_seq: number }>(
        "SELECT organization_id, last_seq FROM audit_heads WHERE organization_id = ANY ($1)",
        [[...before.keys()]],
      );
      for (const { organization_id, last_seq } of rows) {
        if (last_seq < (before.get(organization_id) ?? 0)) this.#end(organization_id);
        else this.grown(organization_id, last_seq);
      }
    } catch {
      // The database cannot be reached: streams wait until it can.
    } finally {
      this.#isAsking = false;
      if (this.#waiting.size > 0 && !this.#isClosed) {
        this.#timer = setTimeout(() => void this.#ask(), ASK_EVERY_MS).unref();
      }
    }
  }

  async #read(
    { organization, surface, filter }: Followed,
    after: number,
    last: number,
  ): Promise<Portion> {
    const searcher = { party: [surface, organization] };
    const days = await this.#database.query<{ day: string }>(
      `SELECT DISTINCT d.day::text AS day FROM audit_days d
         JOIN audit_heads h ON h.organization_id = d.organization_id AND d.day >= h.first_day
        WHERE d.organization_id = $1 AND d.last_seq > $2`,
      [organization, after],
    );
    const range = {
      ...{ organization, after, upTo: last, filter },
      days: days.map(({ day }) => day),
    };
    const areMany = last - after > MANY_ROWS;
    const query: Statements["query"] = (text, values = []) =>
      areMany ? this.#database.search(text, values, searcher) : this.#database.query(text, values);
    const found: Found[] = [];
    for (const { row, line } of await readShortPortion(query, range, READ)) {
      if (line === null) return { organization, days: range.days, row };
      found.push({ row, position: streamPosition(row), json: Buffer.from(line) });
    }
    return found;
  }
}
