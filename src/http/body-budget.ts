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
  /** The part of the room that it takes. */
  readonly counted: number;
  /** The parts of the bodies that arrived later and began before. */
  passed: number;
  readonly start: (release: () => void) => void;
}

/** The parts of the work that the large bodies of all, of one prefix, of one organization, and of one user may take. */
export const WORK_PARTS = [1, 3 / 4, 1 / 2, 1 / 4] as const;
/**
 * A larger body counts as this part, and leaves some to others of its organization. If it were processed alone, all others
 * would wait for it, and a text can be made to take seconds.
 */
const LARGEST_PART = 3 / 8;
/** As much may pass a body that waits for room. Each may take half a second, so more would hold it up for long. */
const PASSING_PART = 1 / 4;

/**
 * Counts the bytes of all request bodies in flight. Limits the cost of large bodies that are processed at
 * a time: until a body is parsed, checked, stored and answered, it takes ten times its size, and more if it has
 * very many objects and lists. No user, organization or prefix takes all of it, since a body may wait for seconds for
 * other turns. When the room of all bodies is used up, the newest bodies of the sender that holds the most bytes are refused.
 */
export class BodyBudget {
  /** The memory that large bodies arrive in. */
  readonly memory: BodyMemory;
  readonly #limit: number;
  readonly #workLimit: number;
  readonly #waiting = new FairLine<Waiting>();
  readonly #shares = new FairShare<() => void>();
  /** Whether a body has begun in this turn of the event loop. */
  #pauses = false;

  /**
   * @param limit the most bytes of all bodies in flight
   * @param workLimit the greatest cost of large bodies that are processed at a time
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
    return this.#waiting.heldBy([]);
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
    const counted = Math.min(cost, this.#workLimit * LARGEST_PART);
    const body = { party, cost, counted, passed: 0, start };
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
    const full = new Map<string, Waiting>();
    const next = this.#waiting.next((body) => this.#hasRoom(body, full));
    if (!next) return;
    const { party, cost, counted, start } = next;
    this.#waiting.hold(party, counted);
    this.memory.workOn(cost);
    this.#pauses = true;
    setImmediate(() => {
      this.#pauses = false;
      this.#admit();
    });
    start(() => {
      this.#waiting.hold(party, -counted);
      this.memory.workOn(cost);
      this.#admit();
    });
  }

  /**
   * Whether a body has room among all, and among those of its prefix, organization and user. A user may have one larger one.
   *
   * @param full the first body that waits for room in a group: others pass it only if their user has none in work, and only
   *   so much of them that it does not wait for ever
   */
  #hasRoom(body: Waiting, full: Map<string, Waiting>): boolean {
    const { party, counted } = body;
    const isIdle = this.#waiting.heldBy(party) === 0;
    const passed = new Set<Waiting>();
    const hasRoom = WORK_PARTS.every((part, depth) => {
      const group = party.slice(0, depth);
      const name = group.join("\n");
      const held = this.#waiting.heldBy(group);
      const first = full.get(name);
      if (held > 0 && held + counted > this.#workLimit * part) {
        if (first === undefined) full.set(name, body);
        return false;
      }
      if (first === undefined) return true;
      passed.add(first);
      return isIdle && first.passed + counted <= this.#workLimit * PASSING_PART;
    });
    if (hasRoom) for (const other of passed) other.passed += counted;
    return hasRoom;
  }
}

/** The refusal of a body for which there is no room, or whose room another sender took. */
export function tooBusy(): Unavailable {
  return new Unavailable("Too many large bodies are being received at once: try again shortly", 1);
}
