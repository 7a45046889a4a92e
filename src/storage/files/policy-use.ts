import type { PolicyCount } from "../../fleet/store.ts";
import { grown } from "./grown.ts";

/** The version number of slots that do not report a version. */
export const NO_VERSION = 0;
const FIRST_SIZE = 64;

/**
 * The policy version that each slot (a small whole number) reports. Versions are numbered, so that counting
 * reads one array: a walk along 100,000 objects, or through their texts, takes ten times as long.
 */
export class PolicyUse {
  readonly #numbers = new Map<string, number>();
  /** The versions by their number. */
  readonly #versions: string[] = [""];
  /** The slots that report each version, by its number. */
  readonly #slots: number[] = [0];
  readonly #free: number[] = [];
  #numberAt = new Uint32Array(FIRST_SIZE);

  /** Records the version that a slot reports from now on; `undefined` or `""` stands for no version. */
  report(slot: number, version: string | undefined): void {
    const before = this.#numberAt[slot] ?? NO_VERSION;
    const after = version ? this.#numberOf(version) : NO_VERSION;
    if (slot >= this.#numberAt.length) this.#numberAt = grown(this.#numberAt, slot + 1);
    this.#numberAt[slot] = after;
    if (after !== NO_VERSION) (this.#slots[after] as number)++;
    if (before !== NO_VERSION && --(this.#slots[before] as number) === 0) this.#drop(before);
  }

  /** The number of the version that each slot reports, for use in loops. Slots beyond the end have no version. */
  get numbers(): Uint32Array {
    return this.#numberAt;
  }

  /** The number of a version; `undefined` if no slot reports it. */
  find(version: string): number | undefined {
    return this.#numbers.get(version);
  }

  /**
   * The versions that most slots report, at most `limit` of them, in no order. `isPresent` tells which slots
   * are present.
   */
  most(limit: number, isPresent: (slot: number) => boolean): readonly PolicyCount[] {
    const present = new Uint32Array(this.#versions.length);
    for (let slot = 0; slot < this.#numberAt.length; slot++) {
      const number = this.#numberAt[slot] as number;
      if (number !== NO_VERSION && isPresent(slot)) (present[number] as number)++;
    }
    // Picks by number instead of sorting texts, since every runtime may report another version.
    const counts = Int32Array.from(this.#slots).sort();
    const least = Math.max(1, counts.at(-limit) ?? 1);
    const above: number[] = [];
    const equal: number[] = [];
    for (let number = 1; number < this.#slots.length; number++) {
      const slots = this.#slots[number] as number;
      if (slots > least) above.push(number);
      else if (slots === least) equal.push(number);
    }
    return [...above, ...equal].slice(0, limit).map((number) => ({
      version: this.#versions[number] as string,
      runtimes: this.#slots[number] as number,
      present: present[number] as number,
    }));
  }

  #numberOf(version: string): number {
    const known = this.#numbers.get(version);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#versions.length;
    this.#numbers.set(version, number);
    this.#versions[number] = version;
    this.#slots[number] = 0;
    return number;
  }

  #drop(number: number): void {
    this.#numbers.delete(this.#versions[number] as string);
    this.#versions[number] = "";
    this.#free.push(number);
  }
}
