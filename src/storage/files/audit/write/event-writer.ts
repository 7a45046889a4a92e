/**
 * Stores events: turns them into lines, appends the lines to the log and, once they are as safe as was
 * asked for, enters them into the index and answers. An event that its reporter sent before under the
 * same id is answered as it was stored the first time; while that one is being stored, it waits.
 *
 * An id stands for an event of one reporter only. Otherwise any reporter could plant ids: the events
 * that others send with these ids would be dropped, and answered with the planted content.
 */
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { Stored } from "../../../../audit/store.ts";
import type { Durability } from "../../../append-log-options.ts";
import type { SegmentedLog } from "../../../segmented-log.ts";
import { hashOf } from "../index/byte-words.ts";
import { lineOf, type RecentIds } from "./known-events.ts";
import { firstLine, idOf, linesAsList, reporterOf, writeLines } from "./lines.ts";
import type { SegmentSet } from "../segment-set.ts";

/** What an audit store has done since it was opened, over all organizations. */
export class EngineCounters {
  stored = 0;
  /** Events that had been stored before, and were answered with what was stored. */
  repeated = 0;
  failed = 0;
  /** Events that are being stored now. */
  pending = 0;

  /** Events go to the log. */
  began(events: number): void {
    this.pending += events;
  }

  /** They were answered, with the error if there was one. */
  ended(events: number, error: unknown): void {
    this.pending -= events;
    if (error === null) this.stored += events;
    else this.failed += events;
  }
}

/** Events on their way to the disk, and those who sent one of them again meanwhile. */
interface Flight {
  waiting: ((error: unknown) => void)[] | undefined;
}

/** The results of looking for the events of one append among those that are stored. */
interface Findings {
  /** The ids that the client gave; `undefined` for all. */
  readonly named: ReadonlySet<string> | undefined;
  /** Reports all events of this append; `undefined` for callers without credentials. */
  readonly reporter: string | undefined;
  /** The JSON of events that were stored before, or will be by this append, by id. */
  readonly known: Map<string, string>;
  /** Rows that have the hash of an id, but another id or another reporter. */
  readonly others: Set<number>;
}

export interface EventWriterOptions {
  readonly log: SegmentedLog;
  readonly segments: SegmentSet;
  readonly ids: RecentIds;
  readonly durability: Durability;
  readonly counts: EngineCounters;
}

/** Takes the events of one organization. */
export class EventWriter {
  readonly #log: SegmentedLog;
  readonly #segments: SegmentSet;
  readonly #ids: RecentIds;
  readonly #durability: Durability;
  readonly #counts: EngineCounters;
  /** Appends under way that hold an id of the client's, by id and reporter. */
  readonly #flights = new Map<string, Flight>();
  #underWay = 0;

  constructor({ log, segments, ids, durability, counts }: EventWriterOptions) {
    this.#log = log;
    this.#segments = segments;
    this.#ids = ids;
    this.#durability = durability;
    this.#counts = counts;
  }

  /** Whether nothing is on its way. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /** Stores events, all or none; see `AuditStore.append`. */
  append(
    events: readonly AuditEvent[],
    named: ReadonlySet<string> | undefined,
    stored: Stored,
  ): void {
    if (events.length === 0) stored(null, "");
    else if (named?.size === 0) this.#store(events, stored);
    else {
      const reporter = events[0]?.reported_by;
      this.#appendNamed(events, { named, reporter, known: new Map(), others: new Set() }, stored);
    }
  }

  #store(events: readonly AuditEvent[], stored: Stored): void {
    const [first] = events;
    const json = events.length === 1 ? JSON.stringify(first) : undefined;
    const lines = json === undefined ? writeLines(events) : `${json}\n`;
    this.#underWay++;
    this.#counts.began(events.length);
    const ended: Stored = (error, stands) => {
      this.#underWay--;
      this.#counts.ended(events.length, error);
      stored(error, stands);
    };
    if (lines instanceof Promise) lines.then((bytes) => this.#write(bytes, json, ended), ended);
    else this.#write(lines, json, ended);
  }

  #write(lines: string | Buffer, json: string | undefined, ended: Stored): void {
    this.#log.append(lines, this.#durability, (error, _segment, _offset, _length, bytes) => {
      if (error === null) ended(null, json ?? linesAsList(bytes as Buffer));
      else ended(error);
    });
  }

  /**
   * Stores events of which some may be stored already, or be about to. What is under way is waited
   * for first, since this append fails with it, and nothing of it may be stored then.
   */
  #appendNamed(events: readonly AuditEvent[], findings: Findings, stored: Stored): void {
    const again = (error: unknown): void => {
      if (error === null) this.#appendNamed(events, findings, stored);
      else stored(error);
    };
    const { named, reporter, known } = findings;
    const fresh = new Map<string, AuditEvent>();
    const candidates = new Map<string, readonly number[]>();
    for (const event of events) {
      const { id } = event;
      if (named !== undefined && !named.has(id)) {
        fresh.set(id, event);
        continue;
      }
      if (known.has(id) || fresh.has(id)) continue;
      const flight = this.#flights.get(flightKey(id, reporter));
      if (flight !== undefined) {
        (flight.waiting ??= []).push(again);
        return;
      }
      const rows = this.#rowsOf(id, findings);
      if (rows.length === 0) fresh.set(id, event);
      else candidates.set(id, rows);
    }
    if (candidates.size > 0) this.#look(candidates, findings).then(again, stored);
    else this.#storeFresh(events, [...fresh.values()], findings, stored);
  }

  /** The rows that may have an id, without those whose line said otherwise. */
  #rowsOf(id: string, { others }: Findings): readonly number[] {
    const rows = this.#ids.rowsOf(hashOf(id));
    if (rows.length === 0) return rows;
    return rows.filter((row) => !others.has(row) && lineOf(this.#segments, row) !== undefined);
  }

  /** Reads the lines of rows that may have some ids. */
  async #look(
    candidates: ReadonlyMap<string, readonly number[]>,
    { reporter, known, others }: Findings,
  ): Promise<null> {
    const wanted = [...candidates].flatMap(([id, rows]) => rows.map((row) => ({ id, row })));
    const slices = wanted.map(({ row }) => lineOf(this.#segments, row));
    if (slices.some((slice) => slice === undefined)) return null; // removed meanwhile
    const lines = await this.#log.read(slices as Exclude<(typeof slices)[number], undefined>[]);
    wanted.forEach(({ id, row }, index) => {
      const line = firstLine(lines[index] as Buffer);
      if (idOf(line) !== id || reporterOf(line) !== reporter) others.add(row);
      else if (!known.has(id)) known.set(id, line.toString("utf8"));
    });
    return null;
  }

  #storeFresh(
    events: readonly AuditEvent[],
    fresh: readonly AuditEvent[],
    { reporter, known }: Findings,
    stored: Stored,
  ): void {
    const isAll = fresh.length === events.length;
    const answer: Stored = (error, json) => {
      if (error !== null || isAll) return stored(error, json);
      this.#counts.repeated += events.length - fresh.length;
      stored(null, events.map(({ id }) => known.get(id)).join(","));
    };
    if (fresh.length === 0) return answer(null);
    const flight: Flight = { waiting: undefined };
    for (const event of fresh) {
      this.#flights.set(flightKey(event.id, reporter), flight);
      if (!isAll) known.set(event.id, JSON.stringify(event));
    }
    this.#store(fresh, (error, json) => {
      for (const { id } of fresh) this.#flights.delete(flightKey(id, reporter));
      answer(error, json);
      for (const wake of flight.waiting ?? []) wake(error);
    });
  }
}

/** Ids hold no space, so no two pairs have the same key. */
function flightKey(id: string, reporter = ""): string {
  return `${id} ${reporter}`;
}
