import { grown } from "./grown.ts";

const FIRST_SIZE = 64;
/** The slot that closes the ring, between the slots that were touched last and first. */
const START = 0;

/** The order at one moment; both lists begin with the slot that was touched last. */
export interface OrderCopy {
  readonly slots: Int32Array;
  readonly lastSeen: Float64Array;
}

/**
 * The order in which runtimes were last seen, as a ring of slots (small whole numbers): a report moves its
 * slot to the front, so nothing is ever sorted. The links are numbers in arrays, since a walk along 100,000
 * objects in that order misses the processor's caches at every step.
 */
export class SeenOrder {
  #newer = new Int32Array(FIRST_SIZE);
  #older = new Int32Array(FIRST_SIZE);
  #lastSeen = new Float64Array(FIRST_SIZE).fill(-Infinity);
  #used = START + 1;
  readonly #free: number[] = [];

  /** The number of slots in the order. */
  get size(): number {
    return this.#used - 1 - this.#free.length;
  }

  /** The time a slot was last seen, in milliseconds; `-Infinity` for a free slot. */
  lastSeen(slot: number): number {
    return this.#lastSeen[slot] as number;
  }

  /** The time of every slot, for use in loops. */
  get times(): Float64Array {
    return this.#lastSeen;
  }

  /** Allocates a slot and puts it first. */
  add(lastSeen: number): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (slot === this.#newer.length) this.#grow();
    this.#putFirst(slot, lastSeen);
    return slot;
  }

  /** Moves a slot to the front. `lastSeen` must not be earlier than that of any other slot. */
  touch(slot: number, lastSeen: number): void {
    this.#takeOut(slot);
    this.#putFirst(slot, lastSeen);
  }

  /** Frees a slot. */
  remove(slot: number): void {
    this.#takeOut(slot);
    this.#lastSeen[slot] = -Infinity;
    this.#free.push(slot);
  }

  /** The first `most` slots in the present order. */
  copy(most = this.size): OrderCopy {
    const [older, seen] = [this.#older, this.#lastSeen]; // local variables are faster, and the ring is long
    const slots = new Int32Array(Math.min(most, this.size));
    const lastSeen = new Float64Array(slots.length);
    let slot = older[START] as number;
    for (let i = 0; i < slots.length; i++) {
      slots[i] = slot;
      lastSeen[i] = seen[slot] as number;
      slot = older[slot] as number;
    }
    return { slots, lastSeen };
  }

  /** Restores the order by `lastSeen`, after touches out of order. */
  sort(): void {
    const slots = Array.from(this.copy().slots);
    slots.reverse().sort((a, b) => this.lastSeen(a) - this.lastSeen(b));
    for (const slot of slots) this.touch(slot, this.lastSeen(slot));
  }

  #putFirst(slot: number, lastSeen: number): void {
    this.#lastSeen[slot] = lastSeen;
    this.#link(slot, this.#older[START] as number);
    this.#link(START, slot);
  }

  #takeOut(slot: number): void {
    this.#link(this.#newer[slot] as number, this.#older[slot] as number);
  }

  /** Makes two slots neighbours. */
  #link(newer: number, older: number): void {
    this.#older[newer] = older;
    this.#newer[older] = newer;
  }

  #grow(): void {
    const size = this.#newer.length;
    this.#newer = grown(this.#newer);
    this.#older = grown(this.#older);
    this.#lastSeen = grown(this.#lastSeen).fill(-Infinity, size);
  }
}
