const NONE = -1;

/** A chain of slots, the one that was seen last first; ends with -1. */
export interface SeenChain {
  readonly newest: number;
  newer(slot: number): number;
  older(slot: number): number;
  /** The time a slot was last seen, in milliseconds. */
  lastSeen(slot: number): number;
}

/** Called for a slot that came into a window or left it. */
export type Crossed = (slot: number, isInside: boolean) => void;

/**
 * Counts the slots that were seen within a period. They are a first part of the chain, whose end only moves
 * when the count is requested, past the slots that crossed it since.
 */
export class SeenWindow {
  readonly #chain: SeenChain;
  readonly #withinMs: number;
  readonly #crossed: Crossed | undefined;
  #isInside = new Uint8Array(64);
  #oldest = NONE;
  #size = 0;

  constructor(chain: SeenChain, withinMs: number, crossed?: Crossed) {
    this.#chain = chain;
    this.#withinMs = withinMs;
    this.#crossed = crossed;
  }

  /** The number inside at `now` (milliseconds), which may go backwards. */
  sizeAt(now: number): number {
    const chain = this.#chain;
    let last = this.#oldest;
    while (last !== NONE && now - chain.lastSeen(last) >= this.#withinMs) {
      this.#set(last, 0);
      last = chain.newer(last);
    }
    let next = last === NONE ? chain.newest : chain.older(last);
    while (next !== NONE && now - chain.lastSeen(next) < this.#withinMs) {
      this.#set(next, 1);
      last = next;
      next = chain.older(next);
    }
    this.#oldest = last;
    return this.#size;
  }

  /** Called after an allocated slot has come to the front of the chain. */
  putFirst(slot: number): void {
    if (this.#oldest === NONE) this.#oldest = slot;
    if (this.#isInside[slot] === 0) this.#set(slot, 1);
  }

  /** Called before a slot is taken out of the chain, to come to its front or to be freed. */
  takeOut(slot: number): void {
    if (this.#oldest === slot) this.#oldest = this.#chain.newer(slot);
  }

  /** Called when a slot that was taken out is freed. */
  giveBack(slot: number): void {
    if (this.#isInside[slot] === 1) this.#set(slot, 0);
  }

  /** Makes room for slots up to a number. */
  grow(size: number): void {
    const grown = new Uint8Array(size);
    grown.set(this.#isInside);
    this.#isInside = grown;
  }

  #set(slot: number, isInside: 0 | 1): void {
    this.#isInside[slot] = isInside;
    this.#size += isInside === 1 ? 1 : -1;
    this.#crossed?.(slot, isInside === 1);
  }
}
