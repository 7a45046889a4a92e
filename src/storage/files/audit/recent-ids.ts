/** How many of the newest ids are known at least; up to twice as many are. */
const KNOWN_IDS = 100_000;

/**
 * Remembers what the newest ids stand for. Two generations: when the younger is full the older is
 * dropped as a whole, so that forgetting costs nothing per id.
 */
export class RecentIds<T> {
  readonly #limit: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(limit = KNOWN_IDS) {
    this.#limit = limit;
  }

  get(id: string): T | undefined {
    return this.#young.get(id) ?? this.#old.get(id);
  }

  set(id: string, value: T): void {
    if (this.#young.size >= this.#limit) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(id, value);
  }
}
