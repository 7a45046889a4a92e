import { BodyMemory } from "./body-memory.ts";

/** A large body that waits to be worked on. */
interface Waiting {
  readonly bytes: number;
  readonly start: (leave: () => void) => void;
}

/**
 * Counts the bytes that all bodies in flight hold together, and lets few bytes of large ones be worked
 * on at a time: until a body is parsed, checked, stored and answered, it costs ten times its size.
 */
export class BodyBudget {
  /** Where the bytes of large bodies are. */
  readonly memory: BodyMemory;
  readonly #limit: number;
  readonly #workLimit: number;
  readonly #waiting: Waiting[] = [];
  #held = 0;
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
    return this.#held;
  }

  /** The bytes of large bodies that are worked on now. */
  get inWork(): number {
    return this.#inWork;
  }

  /** Takes room for more bytes; `false` when there is none. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit) return false;
    this.#held += bytes;
    return true;
  }

  /** Gives room back. */
  release(bytes: number): void {
    this.#held -= bytes;
  }

  /**
   * Calls `start` when a large body may be worked on, in the order of asking; at once if that is now.
   * `leave` is to be called once, when the work is over.
   */
  work(bytes: number, start: (leave: () => void) => void): void {
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
