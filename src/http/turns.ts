import { Unavailable } from "../core/errors.ts";
import { FairShare, type Holding, type Party } from "../core/fair-share.ts";
import { setImmediate } from "../core/timers.ts";

/** How many answers are made at a time, at most for one user, and how many wait. */
export interface TurnLimits {
  readonly atOnce: number;
  readonly atOnceOfOne: number;
  readonly waiting: number;
}

/** A request that waits for its turn. */
interface Waiting {
  readonly party: Party;
  readonly begin: (end: () => void) => void;
  readonly refuse: (error: Unavailable) => void;
  holding?: Holding<Waiting>;
}

const RETRY_SECONDS = 2;

/**
 * Bounds how many large answers are made at a time; the other requests wait. Surfaces take turns, in
 * each of them organizations, in those addresses: a client that sends a thousand requests delays
 * another client by a few answers. At most one answer begins in a turn of the event loop, so small
 * requests wait for one large answer, not for all that arrived together.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #line = new Line();
  readonly #shares = new FairShare<Waiting>();
  readonly #activeOf = new Map<string, number>();
  #active = 0;
  /** Whether an answer began in this turn of the loop. */
  #hasBegun = false;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Calls `begin` at once if there is room, else when the turn comes; its argument ends the turn. When
   * the line is full, the user with most waiting requests loses the newest one: `refuse` is called.
   *
   * @returns cancels a turn that has not begun; `undefined` if it began at once
   * @throws Unavailable when the user with most waiting requests is this one
   */
  take(party: Party, begin: Waiting["begin"], refuse: Waiting["refuse"]): (() => void) | undefined {
    const request: Waiting = { party, begin, refuse };
    if (!this.#hasBegun && this.#line.isEmpty && this.#hasRoom(party)) {
      this.#begin(request);
      return undefined;
    }
    request.holding = this.#shares.hold(party, request);
    const isIn = this.#shares.makeRoom(request.holding, 1, this.#limits.waiting, (other) => {
      this.#line.remove(other);
      other.refuse(busy());
    });
    if (!isIn) {
      request.holding.close();
      throw busy();
    }
    request.holding.set(1);
    this.#line.add(request);
    if (!this.#hasBegun) this.#beginNext(); // those before it may all lack room
    return () => {
      request.holding?.close();
      this.#line.remove(request);
    };
  }

  #hasRoom = (party: Party): boolean =>
    this.#active < this.#limits.atOnce &&
    (this.#activeOf.get(keyOf(party)) ?? 0) < this.#limits.atOnceOfOne;

  #begin({ party, begin }: Waiting): void {
    this.#count(party, 1);
    this.#hasBegun = true;
    setImmediate(() => {
      this.#hasBegun = false;
      this.#beginNext();
    });
    let isOver = false;
    begin(() => {
      if (isOver) return;
      isOver = true;
      this.#count(party, -1);
      if (!this.#hasBegun) this.#beginNext();
    });
  }

  #count(party: Party, by: number): void {
    this.#active += by;
    const key = keyOf(party);
    const count = (this.#activeOf.get(key) ?? 0) + by;
    if (count > 0) this.#activeOf.set(key, count);
    else this.#activeOf.delete(key);
  }

  #beginNext(): void {
    const next = this.#line.next(this.#hasRoom);
    if (!next) return;
    next.holding?.close();
    this.#begin(next);
  }
}

/** Waiting requests, grouped as parties are; each group's turn comes after those of its siblings. */
class Line {
  readonly #requests = new Set<Waiting>();
  readonly #groups = new Map<string, Line>();

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#groups.size === 0;
  }

  add(request: Waiting, depth = 0): void {
    const key = request.party[depth];
    if (key === undefined) return void this.#requests.add(request);
    const group = this.#groups.get(key) ?? new Line();
    this.#groups.set(key, group);
    group.add(request, depth + 1);
  }

  remove(request: Waiting, depth = 0): void {
    this.#requests.delete(request);
    const key = request.party[depth];
    const group = key === undefined ? undefined : this.#groups.get(key);
    group?.remove(request, depth + 1);
    if (key !== undefined && group?.isEmpty) this.#groups.delete(key);
  }

  /** Takes the next request that has room out of the line. */
  next(hasRoom: (party: Party) => boolean): Waiting | undefined {
    for (const [key, group] of this.#groups) {
      const found = group.next(hasRoom);
      if (!found) continue;
      this.#groups.delete(key); // and to the end
      if (!group.isEmpty) this.#groups.set(key, group);
      return found;
    }
    const [first] = this.#requests; // all of them are of one party
    if (first && hasRoom(first.party)) this.#requests.delete(first);
    else return undefined;
    return first;
  }
}

function keyOf(party: Party): string {
  return JSON.stringify(party);
}

function busy(): Unavailable {
  return new Unavailable("Too many large answers are being made: try again", RETRY_SECONDS);
}
