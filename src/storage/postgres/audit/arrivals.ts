/**
 * Follows events as any server stores them. The row number of an organization's newest event is its change
 * counter. While streams wait, one query reads the counters of all their organizations. Events that this
 * server stores wake its streams without a query.
 */
import type { Arrival, AuditFilter, AuditTail } from "../../../audit/store.ts";
import { streamPosition } from "../../../audit/positions.ts";
import { clearTimeout, setTimeout } from "../../../core/timers.ts";
import type { Database, Statements } from "../database.ts";
import { readPortion } from "./portions.ts";

const ASK_EVERY_MS = 200;
const READ = { rows: 256, bytes: 64 << 10 };
/** Larger ranges of rows are read as searches, which may take longer. */
const MANY_ROWS = 10_000;

interface Found {
  readonly row: number;
  readonly json: Buffer;
}

/** Streams that wait for a row of an organization. */
interface Waiting {
  last: number;
  readonly wakes: Set<() => void>;
}

/** Wakes the streams of this server when events were stored. */
export class Arrivals {
  readonly #database: Database;
  readonly #waiting = new Map<string, Waiting>();
  /** Reads under way. */
  readonly #reads = new Map<string, Promise<readonly Found[]>>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Call when events of an organization were stored; `last` is the newest row. */
  grown(organization: string, last: number): void {
    const waiting = this.#waiting.get(organization);
    if (waiting === undefined || waiting.last >= last) return;
    waiting.last = last;
    for (const wake of waiting.wakes) wake();
  }

  /** The events after a row; see `AuditTail.arrivals`. */
  tail(organization: string, filter: AuditFilter, after: number): AuditTail {
    const arrivals = (signal: AbortSignal) => this.#follow(organization, filter, after, signal);
    return { start: streamPosition(after), arrivals };
  }

  /** Ends every stream. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { wakes } of this.#waiting.values()) for (const wake of wakes) wake();
  }

  async *#follow(
    organization: string,
    filter: AuditFilter,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<Arrival> {
    let at = after;
    const waiting = this.#waiting.get(organization) ?? { last: after, wakes: new Set() };
    this.#waiting.set(organization, waiting);
    const wake = { up: (): void => {} };
    const onWake = (): void => wake.up();
    waiting.wakes.add(onWake);
    signal.addEventListener("abort", onWake);
    try {
      void this.#ask();
      while (!signal.aborted && !this.#isClosed) {
        const { last } = waiting;
        if (last <= at) {
          await new Promise<void>((resolve) => (wake.up = resolve));
          continue;
        }
        const found = await this.#readShared(organization, filter, at, last);
        for (const { row, json } of found) {
          if (signal.aborted) return;
          yield { position: streamPosition(row), json };
        }
        at = found.at(-1)?.row ?? last;
      }
    } finally {
      signal.removeEventListener("abort", onWake);
      waiting.wakes.delete(onWake);
      if (waiting.wakes.size === 0) this.#waiting.delete(organization);
    }
  }

  /** Reads events once for all streams that wait for the same rows. */
  #readShared(
    organization: string,
    filter: AuditFilter,
    after: number,
    last: number,
  ): Promise<readonly Found[]> {
    const key = JSON.stringify([organization, filter, after, last]);
    const reading = this.#reads.get(key) ?? this.#read(organization, filter, after, last);
    this.#reads.set(key, reading);
    return reading.finally(() => this.#reads.delete(key));
  }

  /** Reads the newest row numbers, at intervals while streams wait. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    try {
      const rows = await this.#database.query<{ organization_id: string; last_seq: number }>(
        "SELECT organization_id, last_seq FROM audit_heads WHERE organization_id = ANY ($1)",
        [[...this.#waiting.keys()]],
      );
      for (const { organization_id, last_seq } of rows) this.grown(organization_id, last_seq);
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
    organization: string,
    filter: AuditFilter,
    after: number,
    last: number,
  ): Promise<readonly Found[]> {
    const days = await this.#database.query<{ day: string }>(
      `SELECT DISTINCT d.day::text AS day FROM audit_days d
         JOIN audit_heads h ON h.organization_id = d.organization_id AND d.day >= h.first_day
        WHERE d.organization_id = $1 AND d.last_seq > $2`,
      [organization, after],
    );
    const among = days.map(({ day }) => day);
    const isLong = last - after > MANY_ROWS;
    const query: Statements["query"] = (text, values = []) =>
      isLong ? this.#database.search(text, values) : this.#database.query(text, values);
    const rows = await readPortion(query, organization, among, after, last, filter, READ);
    return rows.map(({ row, line }) => ({ row, json: Buffer.from(line) }));
  }
}
