/** The most keys of one generation, and the most characters in them. */
export const GENERATION = { keys: 200_000, characters: 16 << 20 };

/**
 * Keeps the values of recently used keys, in bounded memory. There are two generations: when the young one is full,
 * it takes the place of the old one, whose values are dropped unless they were used since.
 */
export class RecentValues<Value> {
  readonly #limits: typeof GENERATION;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #characters = 0;

  constructor(limits: typeof GENERATION = GENERATION) {
    this.#limits = limits;
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const old = this.#old.get(key);
    if (old !== undefined) this.keep(key, old);
    return old;
  }

  keep(key: string, value: Value): void {
    const { keys, characters } = this.#limits;
    if (this.#young.size >= keys || this.#characters + key.length > characters) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#young.set(key, value);
    this.#characters += key.length;
  }
}
