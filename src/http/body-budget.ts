/** Counts the bytes that all bodies in flight hold together. */
export class BodyBudget {
  readonly #limit: number;
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The bytes held now. */
  get held(): number {
    return this.#held;
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
}
