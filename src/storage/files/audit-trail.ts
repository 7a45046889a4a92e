/**
 * The events of one organization: the log, what is known of its lines, and the ids by which an event
 * that is sent twice is recognised. The order is: write, sync, add to the index, answer.
 */
import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditActivity, AuditFilter, AuditRows, Stored } from "../../audit/store.ts";
import { parseTimestamp } from "../../core/time.ts";
import type { Durability } from "../append-log.ts";
import { SegmentedLog, type SegmentedLogOptions } from "../segmented-log.ts";
import type { Slice } from "../segment-reader.ts";
import { RecentIds } from "./audit-ids.ts";
import { AuditIndex } from "./audit-index.ts";
import { byteRanges, readLine, writeLines, type EventLines } from "./audit-lines.ts";

export interface AuditTrailOptions extends Omit<SegmentedLogOptions, "timeOf"> {
  readonly organization: string;
  readonly durability: Durability;
  /** Hears of lines of a file that are no events of this organization; they are skipped. */
  readonly damaged: (damage: DamagedLines) => void;
}

/** Lines that could not be read back. */
export interface DamagedLines {
  readonly file: string;
  readonly lines: number;
  /** Where the first of them begins, in bytes. */
  readonly offset: number;
}

/** Events on their way to the disk, and those who sent one of them again meanwhile. */
interface Flight {
  waiting: ((error: unknown) => void)[] | undefined;
}

const COMMA = Buffer.from(",");

/** Stores and finds the events of one organization. */
export class AuditTrail {
  readonly #log: SegmentedLog;
  readonly #durability: Durability;
  readonly #index = new AuditIndex();
  readonly #ids = new RecentIds<Slice>();
  readonly #flights = new Map<string, Flight>();

  private constructor(log: SegmentedLog, durability: Durability) {
    this.#log = log;
    this.#durability = durability;
  }

  /** Opens the log and reads all of it. */
  static async open(options: AuditTrailOptions): Promise<AuditTrail> {
    const { organization, durability, damaged } = options;
    const log = await SegmentedLog.open({
      ...options,
      timeOf: (line) => parseTimestamp(readLine(line, organization)?.ingested_at ?? ""),
    });
    const trail = new AuditTrail(log, durability);
    for (const segment of log.segments) {
      const damage = await trail.#load(segment, organization);
      if (damage !== undefined) damaged(damage);
    }
    return trail;
  }

  async #load(segment: number, organization: string): Promise<DamagedLines | undefined> {
    let lines = 0;
    let first = 0;
    await this.#log.readLines(segment, (line, offset) => {
      const event = readLine(line, organization);
      if (event !== undefined) this.#add(event, { segment, offset, length: line.length });
      else if (lines++ === 0) first = offset;
    });
    return lines === 0 ? undefined : { file: this.#log.path(segment), lines, offset: first };
  }

  #add(event: AuditEvent, slice: Slice): void {
    this.#ids.set(event.id, this.#index.add(event, slice));
  }

  /** Why nothing can be stored at present; `undefined` while it can. */
  get failure(): unknown {
    return this.#log.failure;
  }

  /** Stores events, all or none; see `AuditStore.append`. */
  append(events: readonly AuditEvent[], stored: Stored): void {
    const flight: Flight = { waiting: undefined };
    if (!this.#claim(events, flight)) this.#appendAgain(events, new Map(), stored);
    else if (events.length === 0) stored(null, "");
    else this.#store(events, flight, stored);
  }

  /** Enters events as being stored, unless one of them is known already: then none is. */
  #claim(events: readonly AuditEvent[], flight: Flight): boolean {
    for (let i = 0; i < events.length; i++) {
      const { id } = events[i] as AuditEvent;
      if (this.#flights.has(id) || this.#ids.get(id) !== undefined) {
        for (const { id } of events.slice(0, i)) this.#flights.delete(id);
        return false;
      }
      this.#flights.set(id, flight);
    }
    return true;
  }

  #store(events: readonly AuditEvent[], flight: Flight, stored: Stored): void {
    const lines = writeLines(events);
    this.#log.append(lines.text, this.#durability, (error, segment, offset, length) => {
      for (const { id } of events) this.#flights.delete(id);
      if (error === null) this.#addAll(events, lines, segment, offset, length);
      stored(error, lines.json);
      for (const wake of flight.waiting ?? []) wake(error);
    });
  }

  #addAll(
    events: readonly AuditEvent[],
    lines: EventLines,
    segment: number,
    offset: number,
    length: number,
  ): void {
    const ranges = byteRanges(lines, length);
    for (let i = 0; i < events.length; i++) {
      const range = ranges[i] as (typeof ranges)[number];
      const slice = { segment, offset: offset + range.start, length: range.length };
      this.#add(events[i] as AuditEvent, slice);
    }
  }

  /**
   * Stores events of which some are known, by their JSON in `known`, or about to be. What is under
   * way is waited for first, since this append fails with it, and nothing of it may be stored then.
   */
  #appendAgain(events: readonly AuditEvent[], known: Map<string, string>, stored: Stored): void {
    const again = (error: unknown): void => {
      if (error === null) this.#appendAgain(events, known, stored);
      else stored(error);
    };
    const fresh = new Map<string, AuditEvent>();
    const stands = new Map<string, Slice>();
    for (const event of events) {
      const { id } = event;
      if (known.has(id) || fresh.has(id)) continue;
      const flight = this.#flights.get(id);
      if (flight !== undefined) {
        (flight.waiting ??= []).push(again);
        return;
      }
      const slice = this.#ids.get(id);
      if (slice === undefined) fresh.set(id, event);
      else stands.set(id, slice);
    }
    if (stands.size > 0) this.#learn(stands, known).then(again, stored);
    else this.#storeFresh(events, [...fresh.values()], known, stored);
  }

  async #learn(stands: ReadonlyMap<string, Slice>, known: Map<string, string>): Promise<null> {
    const found = await this.#log.read([...stands.values()]);
    [...stands.keys()].forEach((id, index) => known.set(id, String(found[index])));
    return null;
  }

  #storeFresh(
    events: readonly AuditEvent[],
    fresh: readonly AuditEvent[],
    known: Map<string, string>,
    stored: Stored,
  ): void {
    const answer = (): void => stored(null, events.map(({ id }) => known.get(id)).join(","));
    if (fresh.length === 0) return answer();
    const flight: Flight = { waiting: undefined };
    for (const event of fresh) {
      this.#flights.set(event.id, flight);
      known.set(event.id, JSON.stringify(event));
    }
    this.#store(fresh, flight, (error) => (error === null ? answer() : stored(error)));
  }

  /** Rows of the log that match, newest first. */
  async page(filter: AuditFilter, limit: number, offset: number): Promise<AuditRows> {
    const { rows, total } = this.#index.page(filter, limit, offset);
    const found = await this.#log.read(rows);
    const parts = found.flatMap((bytes, index) => (index === 0 ? [bytes] : [COMMA, bytes]));
    return { json: Buffer.concat(parts), returned: rows.length, total, next: undefined };
  }

  activity(now: number): AuditActivity {
    return this.#index.activity(now);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
