import { randomInt } from "node:crypto";

const NAME_SLOTS = 1 << 16;
/** Drawn for each process, so that a client cannot choose names whose hashes collide. */
const NAME_FACTOR = randomInt(1 << 16, 1 << 30) | 1;

/** Counts different names by their hashes; names with equal hashes count as one. */
export class NameCount {
  readonly #seen = new Uint8Array(NAME_SLOTS);
  #count = 0;

  /** Adds a name, and returns the number of different names. */
  add(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0;
    for (let at = start; at < end; at++)
      hash = Math.imul(hash ^ (bytes[at] as number), NAME_FACTOR);
    const slot = (hash ^ (hash >>> 15)) & (NAME_SLOTS - 1);
    if (this.#seen[slot] === 0) {
      this.#seen[slot] = 1;
      this.#count++;
    }
    return this.#count;
  }
}
