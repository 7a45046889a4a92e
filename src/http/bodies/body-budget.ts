import { Unavailable } from "../../core/errors.ts";
import { FairShare, type Holding, type Party } from "../../core/scheduling/fair-share.ts";
import { BodyMemory } from "./body-memory.ts";
import { LargeBodies, type Repeat } from "./large-bodies.ts";

/** The sender of a body. Its party is computed only for bodies that need room in the budget. */
export interface Sender {
  readonly party: Party;
  /** Calls a listener if the client disconnects before its answer. */
  onGone?(listener: (error: Error) => void): void;
}

/** The room of a body. The owner is a function that is called when another sender takes the room. */
export type BodyRoom = Holding<() => void>;

/**
 * Counts the bytes of all request bodies in flight. When the room of all is used up, the newest bodies of the sender that
 * holds the most bytes are refused. Limits the cost of large bodies in work too: until a body is parsed, checked, stored and
 * answered, it takes ten times its size, and more if it has very many objects and lists.
 */
export class BodyBudget {
  /** The memory that large bodies arrive in. */
  readonly memory: BodyMemory;
  readonly #limit: number;
  readonly #large: LargeBodies;
  readonly #shares = new FairShare<() => void>();

  /**
   * @param limit the most bytes of all bodies in flight
   * @param workLimit the greatest cost of large bodies in work, beside as much of those that take long
   */
  constructor(limit: number, workLimit = limit, repeat?: Repeat) {
    this.memory = new BodyMemory(limit);
    this.#limit = limit;
    this.#large = new LargeBodies(workLimit, this.memory, repeat);
  }

  get held(): number {
    return this.#shares.used();
  }

  /** The cost of the large bodies in work. */
  get inWork(): number {
    return this.#large.cost;
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

  /** Processes a large body when there is room: see `LargeBodies.add`. */
  work({ party }: Sender, cost: number, start: (release: () => void) => void): () => void {
    return this.#large.add(party, cost, start);
  }
}

/** The refusal of a body for which there is no room, or whose room another sender took. */
export function tooBusy(): Unavailable {
  return new Unavailable("Too many large bodies are being received at once: try again shortly", 1);
}
