import { isListed, type ValueCount } from "../../../../audit/facets.ts";

/** The most texts, and characters of them, that are kept. */
export const KEPT_TEXTS = 5_000;
export const KEPT_CHARACTERS = 256 << 10;

/**
 * The most frequent texts of any number of segments. Each segment may add hundreds of its own, and runtimes choose them:
 * with 256 segments all of them took 300 MiB for one question. So when there are too many, the rarer half is forgotten.
 */
export class FrequentTexts {
  #counts = new Map<string, ValueCount>();
  #characters = 0;

  /**
   * Adds to the events of a text; an empty one, and one that is too long to be listed, is left out.
   *
   * @param key texts with the same key are counted together, under the first one of them
   */
  add(text: string, events: number, key = text): void {
    if (text === "" || !isListed(text)) return;
    const [first, before] = this.#counts.get(key) ?? [text, 0];
    if (before === 0) this.#characters += text.length;
    this.#counts.set(key, [first, before + events]);
    if (this.#counts.size > KEPT_TEXTS || this.#characters > KEPT_CHARACTERS) this.#forget();
  }

  get counts(): Iterable<ValueCount> {
    return this.#counts.values();
  }

  #forget(): void {
    const byEvents = [...this.#counts].sort(([, [, m]], [, [, n]]) => n - m);
    this.#counts = new Map();
    this.#characters = 0;
    for (const entry of byEvents) {
      const [, [text]] = entry;
      const characters = this.#characters + text.length;
      if (this.#counts.size >= KEPT_TEXTS / 2 || characters > KEPT_CHARACTERS / 2) break;
      this.#counts.set(...entry);
      this.#characters = characters;
    }
  }
}
