/**
 * The order in which runtimes were last seen, as a chain through typed arrays: a report moves its slot to the
 * front, so nothing is ever sorted. The runtimes that are online, or not offline, are a first part of the
 * chain, whose end only moves when a count is requested. Numbers in arrays instead of objects, since a walk
 * along 100,000 objects in that order misses the processor's caches at every step.
 */
import { IDLE_MS, ONLINE_MS } from "../../fleet/status.ts";
import { type Crossed, type SeenChain, SeenWindow } from "./seen-window.ts";

const NONE = -1;
const FIRST_SIZE = 64;

/** The order at one moment; both lists begin with the slot that was touched last. */
export interface OrderCopy {
  readonly slots: Int32Array;
  readonly lastSeen: Float64Array;
}

/** Orders slots (small whole numbers) by the moment they were touched last. */
export class SeenOrder implements SeenChain {
  #newer = new Int32Array(FIRST_SIZE);
  #older = new Int32Array(FIRST_SIZE);
  #lastSeen = new Float64Array(FIRST_SIZE);
  #newest = NONE;
  #used = 0;
  readonly #free: number[] = [];
  readonly #online: SeenWindow;
  readonly #present: SeenWindow;

  /** @param crossed called for each slot that has become offline, or is so no longer */
  constructor(crossed?: Crossed) {
    this.#online = new SeenWindow(this, ONLINE_MS);
    this.#present = new SeenWindow(this, IDLE_MS, crossed);
  }

  /** The number of slots in the order. */
  get size(): number {
    return this.#used - this.#free.length;
  }

  get newest(): number {
    return this.#newest;
  }

  newer(slot: number): number {
    return this.#newer[slot] as number;
  }

  older(slot: number): number {
    return this.#older[slot] as number;
  }

  lastSeen(slot: number): number {
    return this.#lastSeen[slot] as number;
  }

  /** Allocates a slot and puts it first. */
  add(lastSeen: number): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (slot === this.#newer.length) this.#grow();
    this.#putFirst(slot, lastSeen);
    return slot;
  }

  /** Moves a slot to the front; `lastSeen` is not before any other's. */
  touch(slot: number, lastSeen: number): void {
    this.#takeOut(slot);
    this.#putFirst(slot, lastSeen);
  }

  /** Frees a slot. */
  remove(slot: number): void {
    this.#takeOut(slot);
    this.#online.giveBack(slot);
    this.#present.giveBack(slot);
    this.#free.push(slot);
  }

  /** The number seen less than 15 minutes before `now`, which may go backwards. */
  online(now: number): number {
    return this.#online.sizeAt(now);
  }

  /** The number seen less than 24 hours before `now`: those that are not offline. */
  present(now: number): number {
    return this.#present.sizeAt(now);
  }

  /** The first `most` slots in the present order. */
  copy(most = this.size): OrderCopy {
    const [older, seen] = [this.#older, this.#lastSeen]; // local variables are faster, and the chain is long
    const slots = new Int32Array(Math.min(most, this.size));
    const lastSeen = new Float64Array(slots.length);
    let slot = this.#newest;
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
    this.#newer[slot] = NONE;
    this.#older[slot] = this.#newest;
    if (this.#newest !== NONE) this.#newer[this.#newest] = slot;
    this.#newest = slot;
    this.#online.putFirst(slot);
    this.#present.putFirst(slot);
  }

  #takeOut(slot: number): void {
    this.#online.takeOut(slot);
    this.#present.takeOut(slot);
    const newer = this.newer(slot);
    const older = this.older(slot);
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    if (older !== NONE) this.#newer[older] = newer;
  }

  #grow(): void {
    const size = this.#newer.length * 2;
    this.#newer = copyInto(new Int32Array(size), this.#newer);
    this.#older = copyInto(new Int32Array(size), this.#older);
    this.#lastSeen = copyInto(new Float64Array(size), this.#lastSeen);
    this.#online.grow(size);
    this.#present.grow(size);
  }
}

function copyInto<T extends Int32Array | Float64Array>(to: T, from: T): T {
  to.set(from);
  return to;
}
