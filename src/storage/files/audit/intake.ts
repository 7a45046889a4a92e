/**
 * The way in: events become lines, the lines go to the log, and once they are as safe as was asked
 * for they are added to the index and answered. An event whose id is known is answered as it was
 * stored the first time; one whose id is on its way waits for that to end.
 */
import type { AuditEvent } from "../../../audit/schema.ts";
import type { Stored } from "../../../audit/store.ts";
import type { Durability } from "../../append-log-options.ts";
import type { SegmentedLog } from "../../segmented-log.ts";
import type { Slice } from "../../segment-reader.ts";
import type { AuditCounts } from "./counts.ts";
import { lineOf } from "./known-events.ts";
import { firstLine, writeLines, type EventLines } from "./lines.ts";
import type { RecentIds } from "./recent-ids.ts";
import type { SegmentSet } from "./segment-set.ts";

/** Takes events that are stored: their lines stand in that segment, from byte `offset` on. */
export type AddEvents = (
  events: readonly AuditEvent[],
  lines: EventLines,
  segment: number,
  offset: number,
  length: number,
) => void;

/** Events on their way to the disk, and those who sent one of them again meanwhile. */
interface Flight {
  waiting: ((error: unknown) => void)[] | undefined;
}

export interface IntakeOptions {
  readonly log: SegmentedLog;
  readonly segments: SegmentSet;
  readonly ids: RecentIds<number>;
  readonly durability: Durability;
  readonly counts: AuditCounts;
  readonly add: AddEvents;
}

/** Takes the events of one organization. */
export class Intake {
  readonly #log: SegmentedLog;
  readonly #segments: SegmentSet;
  readonly #ids: RecentIds<number>;
  readonly #durability: Durability;
  readonly #counts: AuditCounts;
  readonly #add: AddEvents;
  readonly #flights = new Map<string, Flight>();

  constructor({ log, segments, ids, durability, counts, add }: IntakeOptions) {
    this.#log = log;
    this.#segments = segments;
    this.#ids = ids;
    this.#durability = durability;
    this.#counts = counts;
    this.#add = add;
  }

  /** Whether nothing is on its way. */
  get isIdle(): boolean {
    return this.#flights.size === 0;
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
      if (this.#flights.has(id) || this.#lineOf(id) !== undefined) {
        for (const { id } of events.slice(0, i)) this.#flights.delete(id);
        return false;
      }
      this.#flights.set(id, flight);
    }
    return true;
  }

  #lineOf(id: string): Slice | undefined {
    const row = this.#ids.get(id);
    return row === undefined ? undefined : lineOf(this.#segments, row);
  }

  #store(events: readonly AuditEvent[], flight: Flight, stored: Stored): void {
    const lines = writeLines(events);
    this.#counts.began(events.length);
    this.#log.append(lines.text, this.#durability, (error, segment, offset, length) => {
      this.#counts.ended(events.length, error);
      for (const { id } of events) this.#flights.delete(id);
      if (error === null) this.#add(events, lines, segment, offset, length);
      stored(error, lines.json);
      for (const wake of flight.waiting ?? []) wake(error);
    });
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
      const slice = this.#lineOf(id);
      if (slice === undefined) fresh.set(id, event);
      else stands.set(id, slice);
    }
    if (stands.size > 0) this.#learn(stands, known).then(again, stored);
    else this.#storeFresh(events, [...fresh.values()], known, stored);
  }

  async #learn(stands: ReadonlyMap<string, Slice>, known: Map<string, string>): Promise<null> {
    const found = (await this.#log.read([...stands.values()])).map(firstLine);
    [...stands.keys()].forEach((id, index) => known.set(id, String(found[index])));
    return null;
  }

  #storeFresh(
    events: readonly AuditEvent[],
    fresh: readonly AuditEvent[],
    known: Map<string, string>,
    stored: Stored,
  ): void {
    const answer = (): void => {
      this.#counts.repeated += events.length - fresh.length;
      stored(null, events.map(({ id }) => known.get(id)).join(","));
    };
    if (fresh.length === 0) return answer();
    const flight: Flight = { waiting: undefined };
    for (const event of fresh) {
      this.#flights.set(event.id, flight);
      known.set(event.id, JSON.stringify(event));
    }
    this.#store(fresh, flight, (error) => (error === null ? answer() : stored(error)));
  }
}
