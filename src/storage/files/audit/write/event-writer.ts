/**
 * Stores events: turns them into lines, appends the lines to the log and, once they have reached the
 * requested durability, hands them over to the index and answers. An event that its reporter sent before under
 * the same id is answered as first stored; if the first one is still being stored, the second waits.
 *
 * An id identifies an event of one reporter only. Otherwise any reporter could plant ids: other reporters'
 * events with these ids would be dropped, and answered with the planted content.
 */
import { answerAllowance, charactersOf, longAnswer } from "../../../../audit/long-answer.ts";
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { Stored } from "../../../../audit/store.ts";
import type { Work } from "../../../../core/scheduling/work.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { Durability } from "../../../append-log-options.ts";
import { ENDS } from "../../../log-lines.ts";
import { Queue } from "../../../../core/scheduling/queue.ts";
import type { Slice } from "../../../segment-reader.ts";
import type { SegmentedLog } from "../../../segmented-log.ts";
import { hashOf } from "../index/hash.ts";
import type { EngineCounters } from "./engine-counters.ts";
import type { InOrder } from "./in-order.ts";
import { lineOf } from "./known-events.ts";
import { firstLine, joinLines, linesAsList, linesIn, writeLines } from "./lines.ts";
import type { RecentIds } from "./recent-ids.ts";
import type { GlobalRow } from "../index/segment-index.ts";
import type { SegmentSet } from "../segment-set.ts";

/** The ids of one append that is under way, and the appends that wait for its end. */
class Flight {
  readonly waiting: ((error: unknown) => void)[] = [];

  /** Wakes the waiting appends, with the error if this one has failed. */
  end(error: unknown): void {
    for (const wake of this.waiting.splice(0)) wake(error);
  }
}

/** An append of events with ids from the client, while these are looked up among the stored ones. */
interface Lookup {
  readonly events: readonly AuditEvent[];
  /** The ids that the client gave; `undefined` for all. */
  readonly named: ReadonlySet<string> | undefined;
  /** The reporter of all events of this append; `undefined` for callers without credentials. */
  readonly reporter: string | undefined;
  /** The appends of this reporter that are under way, by the ids that they reserve, and this append. */
  readonly flights: Map<string, Flight>;
  readonly flight: Flight;
  /** The events to store, by id. */
  readonly fresh: Map<string, AuditEvent>;
  /** The lines of events that were stored before, by id. */
  readonly known: Map<string, Buffer>;
  /** Rows with the hash of an id, but with another id or another reporter. */
  readonly others: Set<GlobalRow>;
}

/** An id, and a row that may have it. */
type Candidate = readonly [id: string, row: GlobalRow];

/** The events that are looked up in one part, within some 0.1 ms. */
const EVENTS_OF_A_PART = 64;
/** The events that are handed over in one part: each may be compared with the filters of hundreds of streams. */
const HANDED_OF_A_PART = 8;
/** Lines are read in parts of this size, or one by one if they are longer. */
const BYTES_OF_A_PART = 1 << 20;

export interface EventWriterOptions {
  readonly log: SegmentedLog;
  readonly segments: SegmentSet;
  readonly ids: RecentIds;
  readonly durability: Durability;
  readonly counts: EngineCounters;
  /** The steps after an append, in the order of the log: an answer waits until its events are indexed. */
  readonly sequel: InOrder;
  /** Takes each event once it is as durable as demanded, with its line and the line's place in the log. */
  readonly acknowledged: (event: AuditEvent, line: Buffer, offset: number) => void;
}

/** Takes the events of one organization. */
export class EventWriter {
  readonly #parts: EventWriterOptions;
  /** By reporter. Never removed: a second map of the same reporter would lack the ids of the first. */
  readonly #flights = new Map<string | undefined, Map<string, Flight>>();
  /** Appends read the lines of known events one after another, so that few of these are in memory. */
  readonly #looks = new Queue();
  #underWay = 0;

  constructor(parts: EventWriterOptions) {
    this.#parts = parts;
  }

  /** Whether no append is under way. */
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
      const flights = this.#flights.get(reporter) ?? new Map<string, Flight>();
      this.#flights.set(reporter, flights);
      const found = { fresh: new Map(), known: new Map(), others: new Set<GlobalRow>() };
      const lookup = { events, named, reporter, flights, flight: new Flight(), ...found };
      this.#underWay++;
      this.#lookUp(lookup, (error, json) => {
        this.#underWay--;
        stored(error, json);
      });
    }
  }

  /** Stores events as lines; `answerOf` makes the answer from the lines of several events. */
  #store(events: readonly AuditEvent[], stored: Stored, answerOf = linesAsList): void {
    const { log, durability, counts, sequel, acknowledged } = this.#parts;
    const [first] = events;
    const json = events.length === 1 ? JSON.stringify(first) : undefined;
    const lines = json === undefined ? writeLines(events) : `${json}${ENDS}`;
    this.#underWay++;
    counts.began(events.length);
    const ended: Stored = (error, stands) => {
      this.#underWay--;
      counts.ended(events.length, error);
      stored(error, stands);
    };
    const write = (text: string | Buffer): void =>
      log.append(text, durability, (error, _segment, offset, _length, bytes) => {
        sequel.do(() => {
          if (error !== null || bytes === undefined) return ended(error);
          if (json === undefined || first === undefined) {
            return this.#handOver(events, bytes, offset, () => ended(null, answerOf(bytes)));
          }
          acknowledged(first, bytes.subarray(0, -ENDS.length), offset);
          ended(null, json);
        });
      });
    if (lines instanceof Promise) lines.then(write, ended);
    else write(lines);
  }

  /** Hands over the acknowledged events of a batch, and then answers. */
  *#handOver(
    events: readonly AuditEvent[],
    bytes: Buffer,
    offset: number,
    answer: () => void,
  ): Work<void> {
    let at = 0;
    for (const line of linesIn(bytes)) {
      const place = offset + line.byteOffset - bytes.byteOffset;
      this.#parts.acknowledged(events[at] as AuditEvent, line, place);
      if (++at % HANDED_OF_A_PART === 0) yield;
    }
    answer();
  }

  /**
   * Stores the events that are not stored yet. If another append is storing one of them, this append waits
   * for it first: it fails if that one fails, and then nothing of it may be stored.
   */
  #lookUp(lookup: Lookup, stored: Stored): void {
    const again = (error: unknown): void => {
      if (error === null) return this.#lookUp(lookup, stored);
      release(lookup);
      stored(error);
    };
    const goOn = (found: Flight | readonly Candidate[]): void => {
      if (found instanceof Flight) {
        // Invariant: an append that waits reserves no ids, so no two wait for each other.
        release(lookup);
        found.waiting.push(again);
      } else if (found.length > 0) {
        this.#looks.run(() => this.#look(found, lookup)).then(() => again(null), again);
      } else this.#storeFresh(lookup, stored);
    };
    const reserving = new Yielder().run(this.#reserve(lookup));
    if (reserving instanceof Promise) reserving.then(goOn, again);
    else goOn(reserving);
  }

  /**
   * Reserves the ids of the events to store. Between two parts other appends look up their ids, so an id is
   * reserved as soon as it is found to be new.
   *
   * @returns the rows that may have the other ids, or an append under way that has reserved one of the ids
   */
  *#reserve(lookup: Lookup): Work<Flight | readonly Candidate[]> {
    const { events, named, flights, flight, fresh, known } = lookup;
    const candidates: Candidate[] = [];
    const sought = new Set<string>(); // a batch may repeat an id thousands of times
    for (const [i, event] of events.entries()) {
      if (i % EVENTS_OF_A_PART === EVENTS_OF_A_PART - 1) yield;
      const { id } = event;
      if (named !== undefined && !named.has(id)) {
        fresh.set(id, event);
        continue;
      }
      if (known.has(id) || fresh.has(id) || sought.has(id)) continue;
      sought.add(id);
      const other = flights.get(id);
      if (other !== undefined) return other;
      const rows = this.#rowsOf(id, lookup);
      for (const row of rows) candidates.push([id, row]);
      if (rows.length === 0) {
        fresh.set(id, event);
        flights.set(id, flight);
      }
    }
    return candidates;
  }

  /** The rows that may have an id, without those whose line has another one. */
  #rowsOf(id: string, { others }: Lookup): readonly GlobalRow[] {
    const rows = this.#parts.ids.rowsOf(hashOf(id));
    if (rows.length === 0) return rows;
    return rows.filter(
      (row) => !others.has(row) && lineOf(this.#parts.segments, row) !== undefined,
    );
  }

  /**
   * Reads the lines of rows that may have some of the ids.
   *
   * @throws TooLarge when the lines are much longer than the events that were sent
   */
  async #look(
    candidates: readonly Candidate[],
    { events, reporter, known, others }: Lookup,
  ): Promise<void> {
    const yielder = new Yielder();
    let left = answerAllowance(events);
    for (let first = 0; first < candidates.length;) {
      const part: Candidate[] = [];
      const slices: Slice[] = [];
      for (let bytes = 0; part.length < EVENTS_OF_A_PART && bytes < BYTES_OF_A_PART; first++) {
        const candidate = candidates[first];
        if (candidate === undefined) break;
        const slice = lineOf(this.#parts.segments, candidate[1]);
        if (slice === undefined) return; // removed meanwhile
        bytes += slice.length;
        part.push(candidate);
        slices.push(slice);
      }
      const lines = await this.#parts.log.read(slices);
      part.forEach(([id, row], index) => {
        const line = firstLine(lines[index] as Buffer);
        const event = JSON.parse(line.toString("utf8")) as AuditEvent;
        if (event.id !== id || event.reported_by !== reporter) others.add(row);
        else if (!known.has(id)) {
          known.set(id, line);
          left -= line.length;
        }
      });
      if (left < 0) throw longAnswer();
      await yielder.step();
    }
  }

  #storeFresh(lookup: Lookup, stored: Stored): void {
    const { events, known } = lookup;
    // In the order of the batch: ids with candidates were found to be new later, when these had been read.
    const fresh = [...new Set(events)].filter((event) => lookup.fresh.get(event.id) === event);
    if (fresh.length === events.length) {
      return this.#store(fresh, (error, json) => {
        release(lookup, error);
        stored(error, json);
      });
    }
    const lengthOf = (event: AuditEvent): number =>
      // a batch may repeat the id of one long event
      known.get(event.id)?.length ?? charactersOf(lookup.fresh.get(event.id) ?? event);
    if (events.reduce((sum, event) => sum + lengthOf(event), 0) > answerAllowance(events)) {
      release(lookup);
      return stored(longAnswer());
    }
    const answer = (error: unknown, lines: string | Buffer = ""): void => {
      release(lookup, error);
      if (error !== null) return stored(error);
      this.#parts.counts.repeated += events.length - fresh.length;
      const written = linesIn(typeof lines === "string" ? Buffer.from(lines) : lines);
      for (const { id } of fresh) known.set(id, written.next().value as Buffer);
      const all = events.map(({ id }) => known.get(id) as Buffer);
      void Promise.resolve(new Yielder().run(joinLines(all))).then((json) => stored(null, json));
    };
    if (fresh.length === 0) answer(null);
    else this.#store(fresh, answer, (lines) => lines);
  }
}

/** Releases the ids of an append that has ended, or that waits for another one. */
function release({ flights, flight, fresh }: Lookup, error: unknown = null): void {
  for (const id of fresh.keys()) if (flights.get(id) === flight) flights.delete(id);
  fresh.clear();
  flight.end(error);
}
