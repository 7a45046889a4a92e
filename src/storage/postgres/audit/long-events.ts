/**
 * Long events that streams read. Streams of one address that wait for the same event share one read and its bytes, whatever
 * their filters are. The read keeps its turn until all of them have taken the event, or for a second.
 */
import { LONG_READS, withinASecond } from "../../../audit/long-reads.ts";
import type { Party } from "../../../core/scheduling/fair-share.ts";
import { Turns } from "../../../core/scheduling/turns.ts";
import type { Statements } from "../database.ts";
import { readLine } from "./portions.ts";

/** An event whose row is known. */
export interface LongEvent {
  readonly organization: string;
  /** The days that may have the event. */
  readonly days: readonly string[];
  readonly row: number;
}

/** An event that is being read, or that some of its streams have not taken. */
interface SharedEvent {
  readonly line: Promise<Buffer | undefined>;
  /** Fires when all streams have taken the event, or have left. */
  readonly taken: AbortController;
  streams: number;
}

/** The long events that streams read. */
export class LongEvents {
  readonly #query: Statements["query"];
  readonly #turns = new Turns(LONG_READS);
  readonly #shared = new Map<string, SharedEvent>();

  constructor(query: Statements["query"]) {
    this.#query = query;
  }

  /**
   * Delivers the line of an event, and nothing if retention has removed it. The reader has taken it when it asks for more.
   *
   * @param reader the party whose turn the read takes
   * @param signal fires when the reader leaves
   */
  async *read(event: LongEvent, reader: Party, signal: AbortSignal): AsyncGenerator<Buffer> {
    const key = JSON.stringify([reader, event.organization, event.row]);
    const shared = this.#shared.get(key) ?? this.#begin(key, event, reader);
    shared.streams++;
    let isTaken = false;
    const take = (): void => {
      if (!isTaken && --shared.streams === 0) shared.taken.abort();
      isTaken = true;
    };
    signal.addEventListener("abort", take);
    try {
      const line = await shared.line;
      if (line && !signal.aborted) yield line;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", take);
      take();
    }
  }

  #begin(key: string, event: LongEvent, reader: Party): SharedEvent {
    const taken = new AbortController();
    const forget = (): void => {
      if (this.#shared.get(key) === shared) this.#shared.delete(key);
    };
    taken.signal.addEventListener("abort", forget);
    const shared = { line: this.#read(event, reader, taken.signal, forget), taken, streams: 0 };
    this.#shared.set(key, shared);
    return shared;
  }

  /** Reads an event in its turn, and ends the turn when it is taken; calls `over` then, and after a failure. */
  async #read(
    { organization, days, row }: LongEvent,
    reader: Party,
    taken: AbortSignal,
    over: () => void,
  ): Promise<Buffer | undefined> {
    let end = over;
    try {
      const endTurn = await this.#turns.wait(reader, taken);
      end = () => {
        over();
        endTurn();
      };
      taken.throwIfAborted();
      const line = await readLine(this.#query, organization, days, row);
      const ended = withinASecond(end);
      if (taken.aborted) ended();
      else taken.addEventListener("abort", ended);
      return line === undefined ? undefined : Buffer.from(line);
    } catch (error) {
      end();
      throw error;
    }
  }
}
