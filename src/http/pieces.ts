import type { BodyBudget } from "./body-budget.ts";

const SMALLEST_BLOCK = 1024;
const LARGEST_GROWTH = 64 * 1024;

/**
 * What has arrived of a body, copied into blocks that grow with it. The pieces themselves are not
 * kept: one of a single byte costs hundreds, and a client decides how small its pieces are.
 */
export class Pieces {
  /** The bytes that have arrived. */
  length = 0;
  readonly #budget: BodyBudget;
  #blocks: Buffer[] = [];
  #reserved = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Copies a piece; `false` when the budget has no room for it. */
  add(piece: Buffer): boolean {
    const room = this.#reserved - this.length;
    const last = this.#blocks.at(-1);
    if (last && room > 0) piece.copy(last, last.length - room);
    if (piece.length > room) {
      const size = Math.max(
        piece.length - room,
        Math.min(this.length, LARGEST_GROWTH),
        SMALLEST_BLOCK,
      );
      if (!this.#budget.take(size)) return false;
      const block = Buffer.allocUnsafeSlow(size);
      piece.copy(block, 0, room);
      this.#blocks.push(block);
      this.#reserved += size;
    }
    this.length += piece.length;
    return true;
  }

  /** The whole, as one buffer. */
  join(): Buffer {
    return Buffer.concat(this.#blocks, this.length);
  }

  /** Gives everything back to the budget. */
  free(): void {
    this.#budget.release(this.#reserved);
    this.#blocks = [];
    this.#reserved = 0;
  }
}
