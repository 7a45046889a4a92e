/**
 * Follows events as any server stores them. The row number of an organization's newest event is its change
 * counter. While streams wait, one query reads the counters of all their organizations. Events that this
 * server stores wake its streams without a query.
 */
import type { Arrival, AuditFilter, AuditTail } from "../../../audit/store.ts";
import { LONG_READ_BYTES } from "../../../audit/long-reads.ts";
import { markedPosition, type MarkedPlace } from "../../../audit/positions.ts";
import type { Party } from "../../../core/scheduling/fair-share.ts";
import { clearTimeout, setTimeout } from "../../../core/timers.ts";
import { Turns } from "../../../core/scheduling/turns.ts";
import type { Database, Statements } from "../database.ts";
import { LongEvents, type LongEvent } from "./long-events.ts";
import { daysFrom, markOf, stillThere } from "./marks.ts";
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

/** The next events of a stream: short ones, or a long one that is still to be read. */
interface Portion {
  readonly arrivals: readonly Arrival[];
  readonly long?: LongEvent;
  /** The place of the last event, or the last row that was looked at. */
  readonly end: MarkedPlace;
}

/** Streams that wait for a row of an organization. */
interface Waiting {
  last: number;
  /** Whether the newest row went back, as after a fail-over that lost some: row numbers then mean other events. */
  isOver: boolean;
  readonly wakes: Set<() => void>;
}

/** A read under way for some streams. It ends when all of them have left. */
interface SharedRead {
  readonly portion: Promise<Portion | undefined>;
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

  /** The events after a place; see `AuditTail.arrivals`. The reads take turns of `reader`. */
  tail(
    organization: string,
    filter: AuditFilter,
    after: MarkedPlace,
    reader: Party = ["", organization],
  ): AuditTail {
    const [surface = ""] = reader;
    const followed = { organization, surface, filter };
    const arrivals = (signal: AbortSignal) => this.#follow(followed, after, reader, signal);
    return { start: markedPosition(after), arrivals };
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
    after: MarkedPlace,
    reader: Party,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Arrival[]> {
    const { organization } = followed;
    let at = after;
    const waiting = this.#waiting.get(organization) ?? {
      last: after.row,
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
        if (last <= at.row) {
          await new Promise<void>((resolve) => (wake.up = resolve));
          continue;
        }
        const portion = await this.#readShared(followed, at, last, signal);
        if (portion === undefined || signal.aborted) return;
        const { arrivals, long, end } = portion;
        if (arrivals.length > 0) yield arrivals;
        for await (const json of long ? this.#long.read(long, reader, signal) : []) {
          if (markOf(json) !== end.mark) return;
          yield [{ position: markedPosition(end), json }];
        }
        at = end;
      }
    } finally {
      signal.removeEventListener("abort", onWake);
      waiting.wakes.delete(onWake);
      const isKnown = this.#waiting.get(organization) === waiting;
      if (isKnown && waiting.wakes.size === 0) this.#waiting.delete(organization);
    }
  }

  /**
   * Reads events once for all streams that wait for the same rows; `undefined` if `signal` aborts first, or if the
   * database has lost the event at `after`: the stream then ends.
   */
  async #readShared(
    followed: Followed,
    after: MarkedPlace,
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
      return await read.portion;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, followed: Followed, after: MarkedPlace, last: number): SharedRead {
    const { organization, surface } = followed;
    const left = new AbortController();
    const asker = { party: [organization, surface], gone: left.signal };
    const portion = this.#turns
      .run(asker, () => this.#read(followed, after, last))
      .finally(() => this.#forget(key, read));
    const read: SharedRead = { portion, left, streams: 0 };
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

  /** Reads events. The look at `after` comes last: until then the database could be replaced by one that lacks it. */
  async #read(
    { organization, surface, filter }: Followed,
    after: MarkedPlace,
    last: number,
  ): Promise<Portion | undefined> {
    const searcher = { party: [surface, organization] };
    const ask: Statements["query"] = (...statement) => this.#database.query(...statement);
    const days = await daysFrom(ask, organization, after.row);
    const range = { organization, after: after.row, upTo: last, filter, days };
    const areMany = last - after.row > MANY_ROWS;
    const query: Statements["query"] = (text, values = []) =>
      areMany ? this.#database.search(text, values, searcher) : ask(text, values);
    const found = await readShortPortion(query, range, READ);
    const newest = found.at(-1)?.row ?? last;
    const end = await stillThere(ask, organization, days, after, newest);
    if (end === undefined) return undefined;
    if (found[0]?.line === null)
      return { arrivals: [], long: { organization, days, row: newest }, end };
    const arrivals = found.map(({ row, line }) => {
      const json = Buffer.from(line ?? "");
      return { position: markedPosition({ row, mark: markOf(json) }), json };
    });
    return { arrivals, end };
  }
}
