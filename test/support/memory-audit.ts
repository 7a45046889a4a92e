import { answerAllowance, longAnswer } from "../../src/audit/long-answer.ts";
import {
  matches,
  activityOf,
  facetsOf,
  histogramOf,
  providerNamesOf,
  providerUseOf,
} from "../audit/naive-audit.ts";
import type { AuditEvent } from "../../src/audit/schema.ts";
import {
  MOST_OF_ID,
  RemovedPosition,
  UnknownPosition,
  type Arrival,
  type AuditActivity,
  type AuditAllowance,
  type AuditExport,
  type AuditFacets,
  type AuditFilter,
  type AuditHistogram,
  type AuditRemoval,
  type AuditRows,
  type AuditStore,
  type AuditTail,
  type AuditUsage,
  type Position,
  type ProviderActivity,
  type Stored,
} from "../../src/audit/store.ts";
import type { Pieces } from "../../src/core/pieces.ts";
import type { Awaitable } from "../../src/core/caller.ts";
import type { Quota } from "../../src/core/quota.ts";
import type { Searcher } from "../../src/core/scheduling/fair-share.ts";
import { cutTexts, TextCutter } from "../../src/core/json/text-cutter.ts";

/** A stored event; its number rises in the order of ingest. */
interface Row {
  readonly number: number;
  readonly event: AuditEvent;
  readonly json: string;
}

/** An audit store in its plainest form: the second implementation, on which every store test runs too. */
const PIECE_BYTES = 64 << 10;

export class MemoryAudit implements AuditStore {
  readonly #rows = new Map<string, Row[]>();
  #last = 0;
  /** Wakes the tails that wait for an event. */
  readonly #waiting = new Set<() => void>();
  /** Counts of stored, repeated and refused events. */
  readonly counts = { stored: 0, repeated: 0, failed: 0 };
  /** The number of tails that are being read. */
  tails = 0;
  /** The number of exports that are being read. */
  exporting = 0;
  /** The number of rows that exports have read. */
  rowsRead = 0;

  append(
    organization: string,
    events: readonly AuditEvent[],
    stored: Stored,
    named?: ReadonlySet<string>,
    quota?: Quota,
  ): void {
    const own = this.#own(organization);
    const refusal = quota?.refusal(this.usage(organization).bytes);
    if (refusal) {
      this.counts.failed += events.length;
      return stored(refusal);
    }
    const added: Row[] = [];
    const rows = events.map((event) => {
      const isSame = (row: Row): boolean =>
        row.event.id === event.id && row.event.reported_by === event.reported_by;
      const isGiven = named?.has(event.id) ?? true;
      const known = isGiven ? (own.find(isSame) ?? added.find(isSame)) : undefined;
      if (known) return known;
      const number = this.#last + added.length + 1;
      const row = { number, event, json: JSON.stringify(event) };
      added.push(row);
      return row;
    });
    const length = rows.reduce((sum, { json }) => sum + json.length, 0);
    if (length > answerAllowance(events)) {
      this.counts.failed += events.length;
      return stored(longAnswer());
    }
    this.counts.stored += added.length;
    this.counts.repeated += rows.length - added.length;
    this.#last += added.length;
    own.push(...added);
    this.#rows.set(organization, own);
    stored(null, rows.map(({ json }) => json).join(","));
    for (const wake of this.#waiting) wake();
  }

  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    start: number | Position,
    searcher?: Searcher,
    characters?: number,
  ): Awaitable<AuditRows> {
    searcher?.gone?.throwIfAborted();
    const found = this.#found(organization, filter);
    const offset =
      typeof start === "number" ? start : this.#offsetAfter(organization, found, start);
    const rows = found.slice(offset, offset + limit);
    const last = rows.at(-1);
    const isEnd = last === undefined || offset + limit >= found.length;
    const json = Buffer.from(rows.map((row) => row.json).join(","));
    const page = {
      returned: rows.length,
      total: found.length,
      next: isEnd ? undefined : positionOf([timeOf(last.event), last.number]),
    };
    if (characters === undefined) return { ...page, json };
    return collect(cutTexts(json, new TextCutter(characters))).then((cut) => ({
      ...page,
      json: cut,
    }));
  }

  #offsetAfter(organization: string, found: readonly Row[], start: Position): number {
    const place = numbersOf(start, 2);
    const [oldest] = this.#own(organization);
    if (Number(place[1]) < (oldest?.number ?? this.#last + 1)) throw new RemovedPosition();
    return indexAfter(found, place);
  }

  withId(organization: string, id: string): readonly Buffer[] {
    const found = this.#own(organization).filter(({ event }) => event.id === id);
    return found.slice(0, MOST_OF_ID).map(({ json }) => Buffer.from(json));
  }

  export(organization: string, filter: AuditFilter): AuditExport {
    const found = this.#found(organization, filter);
    return { total: found.length, rows: piecesOf(this.#read(found)) };
  }

  async *#read(rows: readonly Row[]): AsyncGenerator<Buffer> {
    this.exporting++;
    try {
      for (const { json } of rows) {
        this.rowsRead++;
        const row = Buffer.from(`${json}\n`);
        for (let at = 0; at < row.length; at += PIECE_BYTES) {
          yield row.subarray(at, at + PIECE_BYTES);
        }
      }
    } finally {
      this.exporting--;
    }
  }

  tail(organization: string, filter: AuditFilter, after: Position | undefined): AuditTail {
    const [start] = after === undefined ? [this.#last] : numbersOf(after, 1);
    if (start === undefined || start > this.#last) throw new UnknownPosition();
    return {
      start: positionOf([start]),
      arrivals: (signal) => this.#follow(organization, filter, start, signal),
    };
  }

  async *#follow(
    organization: string,
    filter: AuditFilter,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Arrival[]> {
    let at = after;
    this.tails++;
    try {
      while (!signal.aborted) {
        const row = this.#own(organization).find(({ number }) => number > at);
        if (row === undefined) await this.#woken(signal);
        else {
          at = row.number;
          if (!matches(row.event, filter)) continue;
          yield [{ position: positionOf([at]), json: Buffer.from(row.json) }];
        }
      }
    } finally {
      this.tails--;
    }
  }

  #woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  histogram(
    organization: string,
    filter: AuditFilter,
    from: number,
    to: number,
    intervalMs: number,
  ): Awaitable<AuditHistogram> {
    return histogramOf(this.#events(organization), filter, from, to, intervalMs);
  }

  facets(organization: string, filter: AuditFilter, most: number): AuditFacets {
    return facetsOf(this.#events(organization), filter, most);
  }

  activity(organization: string, now: number): AuditActivity {
    return activityOf(this.#events(organization), now);
  }

  providerUse(
    organization: string,
    names: readonly string[],
    now: number,
  ): ReadonlyMap<string, ProviderActivity> {
    return providerUseOf(this.#events(organization), names, now);
  }

  providerNames(organization: string, most: number): ReadonlySet<string> {
    return new Set([...providerNamesOf(this.#events(organization))].slice(0, most));
  }

  usage(organization: string): AuditUsage {
    const own = this.#own(organization);
    const times = own.map(({ event }) => timeOf(event));
    const bytes = own.reduce((sum, { json }) => sum + Buffer.byteLength(json) + 1, 0);
    return { events: own.length, bytes, oldest: times.length > 0 ? Math.min(...times) : undefined };
  }

  async retain(
    organization: string | undefined,
    olderThanMs: number,
  ): Promise<readonly AuditRemoval[]> {
    const isOld = ({ event }: Row): boolean => Date.parse(event.ingested_at) < olderThanMs;
    const named = organization === undefined ? [...this.#rows.keys()] : [organization];
    return named.flatMap((id) => this.#remove(id, this.#own(id).filter(isOld).length) ?? []);
  }

  async trim(organization: string, allowed: AuditAllowance): Promise<AuditRemoval | undefined> {
    let { events, bytes } = this.usage(organization);
    let count = 0;
    for (const { json } of this.#own(organization)) {
      if (events <= allowed.events && bytes <= allowed.bytes) break;
      events--;
      bytes -= Buffer.byteLength(json) + 1;
      count++;
    }
    return this.#remove(organization, count);
  }

  /** Removes the first `count` events. */
  #remove(organization: string, count: number): AuditRemoval | undefined {
    if (count === 0) return undefined;
    const { bytes } = this.usage(organization);
    this.#rows.set(organization, this.#own(organization).slice(count));
    return { organization, events: count, bytes: bytes - this.usage(organization).bytes };
  }

  #own(organization: string): Row[] {
    return this.#rows.get(organization) ?? [];
  }

  #events(organization: string): readonly AuditEvent[] {
    return this.#own(organization).map(({ event }) => event);
  }

  /** The matching rows, newest first. */
  #found(organization: string, filter: AuditFilter): readonly Row[] {
    return this.#own(organization)
      .filter(({ event }) => matches(event, filter))
      .sort((a, b) => timeOf(b.event) - timeOf(a.event) || b.number - a.number);
  }
}

function indexAfter(rows: readonly Row[], [timestamp, number]: readonly number[]): number {
  const index = rows.findIndex((row) => {
    const time = timeOf(row.event);
    return time < Number(timestamp) || (time === timestamp && row.number < Number(number));
  });
  return index === -1 ? rows.length : index;
}

function positionOf(numbers: readonly number[]): Position {
  return Buffer.from(JSON.stringify(numbers));
}

function numbersOf(position: Position, count: number): readonly number[] {
  try {
    const numbers = JSON.parse(position.toString("utf8")) as readonly number[];
    if (numbers.length === count && numbers.every(Number.isSafeInteger)) return numbers;
  } catch {
    // falls through: it was not made here
  }
  throw new UnknownPosition();
}

function timeOf(event: AuditEvent): number {
  return Date.parse(event.timestamp);
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/** Pieces in memory; closing them frees nothing. */
export function piecesOf(pieces: AsyncIterable<Buffer>): Pieces {
  return { [Symbol.asyncIterator]: () => pieces[Symbol.asyncIterator](), close: () => {} };
}
