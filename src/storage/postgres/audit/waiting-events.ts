import type { Stored } from "../../../audit/store.ts";
import { Unavailable } from "../../../core/errors.ts";
import { FairLine } from "../../../core/scheduling/fair-line.ts";
import { FairShare, type Holding, type Party } from "../../../core/scheduling/fair-share.ts";

/**
 * The most bytes of the events that wait, each counted as its line and 4 KiB more, since a short event takes as much memory
 * until it is stored. It is a second or two of a database's work.
 */
export const MOST_WAITING_BYTES = 48 << 20;
export const EVENT_BYTES = 4 << 10;

/** The events of one call, ready for the database. */
interface Prepared {
  readonly bytes: number;
  readonly stored: Stored;
}

/** The place of a call in the line: first while its events are prepared, then until they are sent. */
export class Place<T extends Prepared> {
  readonly party: Party;
  readonly stored: Stored;
  holding: Holding<Place<T>> | undefined;
  prepared: T | undefined;
  isLost = false;

  constructor(party: Party, stored: Stored) {
    this.party = party;
    this.stored = stored;
  }
}

/**
 * The events that wait for the database. Clients take turns, and divide the room: when it is used up, the client with
 * the most in it loses the newest of its calls. Without this one client had the events of all others refused, with 30
 * connections that sent batches of 90 bytes; with organizations alone, an anonymous one those of the organization's keys.
 */
export class WaitingEvents<T extends Prepared> {
  readonly #line = new FairLine<Place<T>>();
  readonly #shares = new FairShare<Place<T>>();

  /** Whether no prepared events wait. */
  get isEmpty(): boolean {
    return this.#line.isEmpty;
  }

  /**
   * Opens a place for events that are still to be prepared; `undefined` if there is no room for this client.
   *
   * @param stored called with the refusal if another client takes the room before they are prepared
   */
  open(party: Party, count: number, stored: Stored): Place<T> | undefined {
    const place = new Place<T>(party, stored);
    const holding = this.#shares.hold(place.party, place);
    // One byte is asked for: a large batch may exceed the limit, or it could wait for ever.
    if (!this.#shares.makeRoom(holding, 1, MOST_WAITING_BYTES, (other) => this.#lose(other))) {
      holding.close();
      return undefined;
    }
    holding.set(count * EVENT_BYTES);
    place.holding = holding;
    return place;
  }

  /** Puts prepared events into the line; not if `place.isLost`. */
  add(place: Place<T>, prepared: T): void {
    place.holding?.set(place.holding.amount + prepared.bytes);
    place.prepared = prepared;
    this.#line.add(place);
  }

  /** Gives up a place whose events could not be prepared. */
  giveUp(place: Place<T>, error: unknown): void {
    place.holding?.close();
    if (!place.isLost) place.stored(error);
  }

  /** Takes the next events that fit out of the line. */
  next(fits: (prepared: T) => boolean): T | undefined {
    const next = this.#line.next(({ prepared }) => prepared !== undefined && fits(prepared));
    next?.holding?.close();
    return next?.prepared;
  }

  #lose(place: Place<T>): void {
    place.isLost = true;
    const { prepared } = place;
    if (prepared !== undefined) this.#line.remove(place);
    (prepared ?? place).stored(tooMany());
  }
}

/** The refusal of events for which there is no room. */
export function tooMany(): Unavailable {
  return new Unavailable("Too many events wait for the database: send them again", 1);
}
