import { Unavailable } from "../core/errors.ts";
import { FairShare, type Holding, type Party } from "../core/fair-share.ts";
import { setImmediate } from "../core/timers.ts";
import { BodyMemory } from "./body-memory.ts";

/** Whose body it is; asked only when the body needs room of its own. */
export interface Sender {
  readonly party: Party;
}

/** The room of a body; what it holds is called when the room went to another sender. */
export type BodyRoom = Holding<() => void>;

/** A large body that waits to be worked on. */
interface Waiting {
  readonly bytes: number;
  readonly start: (release: () => void) => void;
}

/**
 * Counts the bytes that all bodies in flight hold together, and lets few bytes of large ones be worked
 * on at a time: until a body is parsed, checked, stored and answered, it costs ten times its size. When
 * the room is used up, the sender that holds most gives way: its newest bodies are refused.
 */
export class BodyBudget {
  /** Where the bytes of large bodies are. */
  readonly memory: BodyMemory;
  readonly #limit: number;
  readonly #workLimit: number;
  readonly #waiting: Waiting[] = [];
  readonly #shares = new FairShare<() => void>();
  #inWork = 0;

  /**
   * @param limit the most bytes that are held
   * @param workLimit the most bytes of large bodies in work; one that is larger is worked on alone
   */
  constructor(limit: number, workLimit = limit) {
    this.memory = new BodyMemory(limit);
    this.#limit = limit;
    this.#workLimit = workLimit;
  }

  /** The bytes held now. */
  get held(): number {
    return this.#shares.used();
  }

  /** The bytes of large bodies that are worked on now. */
  get inWork(): number {
    return this.#inWork;
  }

  /**
   * Opens the room of a body, empty at first.
   *
   * @param cut called when the room went to another sender: the body is to be refused
   */
  open({ party }: Sender, cut: () => void): BodyRoom {
    return this.#shares.hold(party, cut);
  }

  /** Lets a room grow, where needed at the cost of a sender that holds more; `false` when it cannot. */
  grow(room: BodyRoom, bytes: number): boolean {
    if (!this.#shares.makeRoom(room, bytes, this.#limit, (cut) => cut())) return false;
    room.set(room.amount + bytes);
    return true;
  }

  /**
   * Calls `start` when a large body may be worked on, in the order of asking; at once if that is now.
   * `release` is to be called once, when the work is over.
   */
  work(bytes: number, start: (release: () => void) => void): void {
    this.#waiting.push({ bytes, start });
    this.#admit();
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const { bytes, start } = next;
      if (this.#inWork > 0 && this.#inWork + bytes > this.#workLimit) return;
      this.#waiting.shift();
      this.#inWork += bytes;
      this.memory.workOn(bytes);
      start(() => {
        this.#inWork -= bytes;
        this.memory.workOn(bytes);
        setImmediate(() => this.#admit()); // others are served between two large ones
      });
    }
  }
}

/** The refusal of a body that has no room, or had to give way. */
export function tooBusy(): Unavailable {
  return new Unavailable("Too many large bodies are being received at once: try again shortly", 1);
}
