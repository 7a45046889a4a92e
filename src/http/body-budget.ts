import { Unavailable } from "../core/errors.ts";
import { FairLine } from "../core/fair-line.ts";
import { FairShare, type Holding, type Party } from "../core/fair-share.ts";
import { setImmediate } from "../core/timers.ts";
import { BodyMemory } from "./body-memory.ts";

/** The sender of a body. Its party is computed only for bodies that need room in the budget. */
export interface Sender {
  readonly party: Party;
}

/** The room of a body. The owner is a function that is called when another sender takes the room. */
export type BodyRoom = Holding<() => void>;

/** A large body that waits until it may be parsed. */
interface Waiting {
  readonly party: Party;
  /** Its size, and more if its values take much memory for their text. */
  readonly cost: number;
  readonly start: (release: () => void) => void;
}

/**
 * Counts the bytes of all request bodies in flight. Limits the cost of large bodies that are processed at
 * a time: until a body is parsed, checked, stored and answered, it takes ten times its size, and more if it has
 * very many objects and lists. When the room
 * is used up, the newest bodies of the sender that holds the most bytes are refused.
 */
export class BodyBudget {
  /** The memory that large bodies arrive in. */
  readonly memory: BodyMemory;
  readonly #limit: number;
  readonly #workLimit: number;
  readonly #waiting = new FairLine<Waiting>();
  readonly #shares = new FairShare<() => void>();
  #inWork = 0;
  /** Whether a body has begun in this turn of the event loop. */
  #pauses = false;

  /**
   * @param limit the most bytes of all bodies in flight
   * @param workLimit the greatest cost of large bodies that are processed at a time; a body above this limit
   *   is processed alone
   */
  constructor(limit: number, workLimit = limit) {
    this.memory = new BodyMemory(limit);
    this.#limit = limit;
    this.#workLimit = workLimit;
  }

  get held(): number {
    return this.#shares.used();
  }

  /** The cost of the large bodies that are being processed now. */
  get inWork(): number {
    return this.#inWork;
  }

  /**
   * Opens the room of a body, empty at first.
   *
   * @param cut called when another sender took the room: refuse the body
   */
  open({ party }: Sender, cut: () => void): BodyRoom {
    return this.#shares.hold(party, cut);
  }

  /** Lets a room grow, if needed by taking room from a sender that holds more; `false` if that is not possible. */
  grow(room: BodyRoom, bytes: number): boolean {
    if (!this.#shares.makeRoom(room, bytes, this.#limit, (cut) => cut())) return false;
    room.set(room.amount + bytes);
    return true;
  }

  /**
   * Calls `start` when a large body may be processed: at once if there is room and none has begun in this turn of the
   * event loop, otherwise when its sender's turn comes. Call `release` once, when the request is answered.
   *
   * @returns cancels a turn that has not begun
   */
  work({ party }: Sender, cost: number, start: (release: () => void) => void): () => void {
    const body = { party, cost, start };
    this.#waiting.add(body);
    this.#admit();
    return () => {
      this.#waiting.remove(body);
      this.#admit();
    };
  }

  /** Begins at most one body in each turn of the event loop, so that other requests are served in between. */
  #admit(): void {
    if (this.#pauses) return;
    let isFirst = true; // a smaller body does not pass one that waits for room: that could wait for ever
    const next = this.#waiting.next(({ cost }) => {
      const hasRoom = this.#inWork === 0 || this.#inWork + cost <= this.#workLimit;
      const begins = isFirst && hasRoom;
      isFirst = false;
      return begins;
    });
    if (!next) return;
    const { cost, start } = next;
    this.#inWork += cost;
    this.memory.workOn(cost);
    this.#pauses = true;
    setImmediate(() => {
      this.#pauses = false;
      this.#admit();
    });
    start(() => {
      this.#inWork -= cost;
      this.memory.workOn(cost);
      this.#admit();
    });
  }
}

/** The refusal of a body for which there is no room, or whose room another sender took. */
export function tooBusy(): Unavailable {
  return new Unavailable("Too many large bodies are being received at once: try again shortly", 1);
}
