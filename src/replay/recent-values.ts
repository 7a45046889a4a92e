/** The most keys of one generation, and the most characters in them. */
export const GENERATION = { keys: 400_000, characters: 32 << 20 };

/**
 * Keeps the values of recently used keys, in bounded memory. There are two generations: when the young one is full,
 * it takes the place of the old one, whose values are dropped unless they were used since.
 */
export class RecentValues<Value> {
  readonly #renew: (old: Value) => Value;
  readonly #limits: typeof GENERATION;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #keys = 0;
  #characters = 0;
  #generation = 0;

  /** @param renew takes a value over from the old generation, without the keys that `grow` has counted */
  constructor(renew: (old: Value) => Value, limits: typeof GENERATION = GENERATION) {
    this.#renew = renew;
    this.#limits = limits;
  }

  /** The number of the young generation. */
  get generation(): number {
    return this.#generation;
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const old = this.#old.get(key);
    return old === undefined ? undefined : this.keep(key, this.#renew(old));
  }

  keep(key: string, value: Value): Value {
    this.grow(key.length);
    this.#young.set(key, value);
    return value;
  }

  /** Counts a key that a kept value has of its own, by its length. */
  grow(length: number): void {
    const { keys, characters } = this.#limits;
    if (this.#keys >= keys || this.#characters + length > characters) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#generation++;
      this.#keys = 0;
      this.#characters = 0;
    }
    this.#keys++;
    this.#characters += length;
  }
}
