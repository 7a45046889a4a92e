/**
 * Counts the runtimes of each policy version as they report it. Versions are numbered, so that a runtime that
 * comes or goes costs two accesses to arrays, and no comparison of texts.
 */
import type { PolicyCount } from "../../fleet/store.ts";

const NO_VERSION = 0;
const FIRST_SIZE = 64;

/** Counts slots (small whole numbers) by reported version and by presence. */
export class PolicyUse {
  readonly #numbers = new Map<string, number>();
  /** The versions by their number; number 0 stands for no version. */
  readonly #versions: string[] = [""];
  readonly #runtimes: number[] = [0];
  readonly #present: number[] = [0];
  readonly #free: number[] = [];
  #versionOf = new Uint32Array(FIRST_SIZE);
  #allPresent = 0;

  /** Records the version that a present slot reports from now on; `undefined` or `""` stands for no version. */
  report(slot: number, version: string | undefined): void {
    const before = this.#numberAt(slot);
    const after = version ? this.#numberOf(version) : NO_VERSION;
    if (slot >= this.#versionOf.length) this.#grow(slot);
    this.#versionOf[slot] = after;
    this.#count(after, 1, 1);
    this.#count(before, -1, -1);
    this.#dropUnused(before);
  }

  /** Records that a slot has become present, or is present no longer. */
  cross(slot: number, isPresent: boolean): void {
    this.#count(this.#numberAt(slot), 0, isPresent ? 1 : -1);
  }

  /** Removes a slot that is not present. */
  forget(slot: number): void {
    const before = this.#numberAt(slot);
    if (before === NO_VERSION) return;
    this.#versionOf[slot] = NO_VERSION;
    this.#count(before, -1, 0);
    this.#dropUnused(before);
  }

  /** The number of present slots that report another version than this one, which is not empty. */
  otherThan(version: string): number {
    const number = this.#numbers.get(version);
    return this.#allPresent - (number === undefined ? 0 : (this.#present[number] as number));
  }

  /** The versions that most runtimes report, at most `limit` of them, in no order. */
  most(limit: number): readonly PolicyCount[] {
    // Works on numbers instead of texts, since every runtime may report another version.
    const counts = Int32Array.from(this.#runtimes).sort();
    const least = Math.max(1, counts[counts.length - limit] ?? 0);
    let room = limit;
    for (const count of counts) if (count > least) room--;
    const picked: PolicyCount[] = [];
    for (let number = 1; number < this.#runtimes.length; number++) {
      const runtimes = this.#runtimes[number] as number;
      if (runtimes < least || (runtimes === least && room-- <= 0)) continue;
      const present = this.#present[number] as number;
      picked.push({ version: this.#versions[number] as string, runtimes, present });
    }
    return picked;
  }

  #numberAt(slot: number): number {
    return this.#versionOf[slot] ?? NO_VERSION;
  }

  #count(number: number, runtimes: number, present: number): void {
    if (number === NO_VERSION) return;
    (this.#runtimes[number] as number) += runtimes;
    (this.#present[number] as number) += present;
    this.#allPresent += present;
  }

  #numberOf(version: string): number {
    const known = this.#numbers.get(version);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#versions.length;
    this.#numbers.set(version, number);
    this.#versions[number] = version;
    this.#runtimes[number] = 0;
    this.#present[number] = 0;
    return number;
  }

  #dropUnused(number: number): void {
    if (number === NO_VERSION || this.#runtimes[number] !== 0) return;
    this.#numbers.delete(this.#versions[number] as string);
    this.#versions[number] = "";
    this.#free.push(number);
  }

  #grow(slot: number): void {
    const grown = new Uint32Array(2 * Math.max(slot, this.#versionOf.length));
    grown.set(this.#versionOf);
    this.#versionOf = grown;
  }
}
