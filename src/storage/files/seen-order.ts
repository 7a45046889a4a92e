/**
 * The order in which runtimes were last seen, as a chain through typed arrays: a report moves its
 * slot to the front, so nothing is ever sorted, and who is online is a first part of the chain whose
 * end only moves when somebody asks. Numbers in arrays instead of objects, since a walk along
 * 100,000 objects in that order misses the processor's caches at every step.
 */
import { ONLINE_MS } from "../../fleet/status.ts";

const NONE = -1;

/** Orders slots, small whole numbers, by the moment they were touched last. */
export class SeenOrder {
  #newer = new Int32Array(64);
  #older = new Int32Array(64);
  #lastSeen = new Float64Array(64);
  #isOnline = new Uint8Array(64);
  #newest = NONE;
  #oldestOnline = NONE;
  #online = 0;
  #used = 0;
  readonly #free: number[] = [];

  /** Takes a slot and puts it first. */
  add(lastSeen: number): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (slot === this.#newer.length) this.#grow();
    this.#isOnline[slot] = 0;
    this.#putFirst(slot, lastSeen);
    return slot;
  }

  /** Moves a slot to the front; `lastSeen` is not before any other's. */
  touch(slot: number, lastSeen: number): void {
    this.#takeOut(slot);
    this.#putFirst(slot, lastSeen);
  }

  /** Gives a slot back. */
  remove(slot: number): void {
    this.#takeOut(slot);
    this.#online -= this.#isOnline[slot] as number;
    this.#free.push(slot);
  }

  lastSeen(slot: number): number {
    return this.#lastSeen[slot] as number;
  }

  /** Gives out the slots, the one that was touched last first. */
  walk(visit: (slot: number) => void): void {
    for (let slot = this.#newest; slot !== NONE; slot = this.#older[slot] as number) visit(slot);
  }

  /** How many were seen less than 15 minutes before `now`, which may go backwards. */
  online(now: number): number {
    let last = this.#oldestOnline;
    while (last !== NONE && now - this.lastSeen(last) >= ONLINE_MS) {
      this.#isOnline[last] = 0;
      this.#online--;
      last = this.#newer[last] as number;
    }
    let next = last === NONE ? this.#newest : (this.#older[last] as number);
    while (next !== NONE && now - this.lastSeen(next) < ONLINE_MS) {
      this.#isOnline[next] = 1;
      this.#online++;
      last = next;
      next = this.#older[next] as number;
    }
    this.#oldestOnline = last;
    return this.#online;
  }

  /** Restores the order by `lastSeen`, after touches that did not keep to it. */
  sort(): void {
    const slots: number[] = [];
    this.walk((slot) => slots.push(slot));
    slots.reverse().sort((a, b) => this.lastSeen(a) - this.lastSeen(b));
    for (const slot of slots) this.touch(slot, this.lastSeen(slot));
  }

  #putFirst(slot: number, lastSeen: number): void {
    this.#lastSeen[slot] = lastSeen;
    this.#newer[slot] = NONE;
    this.#older[slot] = this.#newest;
    if (this.#newest !== NONE) this.#newer[this.#newest] = slot;
    this.#newest = slot;
    if (this.#oldestOnline === NONE) this.#oldestOnline = slot;
    this.#online += 1 - (this.#isOnline[slot] as number);
    this.#isOnline[slot] = 1;
  }

  #takeOut(slot: number): void {
    const newer = this.#newer[slot] as number;
    const older = this.#older[slot] as number;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    if (older !== NONE) this.#newer[older] = newer;
    if (this.#oldestOnline === slot) this.#oldestOnline = newer;
  }

  #grow(): void {
    const size = this.#newer.length * 2;
    this.#newer = copyInto(new Int32Array(size), this.#newer);
    this.#older = copyInto(new Int32Array(size), this.#older);
    this.#lastSeen = copyInto(new Float64Array(size), this.#lastSeen);
    this.#isOnline = copyInto(new Uint8Array(size), this.#isOnline);
  }
}

function copyInto<T extends Int32Array | Float64Array | Uint8Array>(to: T, from: T): T {
  to.set(from);
  return to;
}
