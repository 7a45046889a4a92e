import { tooBusy, type BodyBudget, type BodyRoom, type Sender } from "./body-budget.ts";
import { costOf } from "./body-cost.ts";
import { BLOCK_BYTES } from "./body-memory.ts";

const SMALLEST_BLOCK = 1024;

/**
 * The received part of a body, copied into blocks. The received buffers are not kept: a buffer with one
 * byte costs hundreds of bytes, and the client decides how small its pieces are.
 */
export class BodyPieces {
  /** The bytes received so far. */
  length = 0;
  readonly #budget: BodyBudget;
  readonly #sender: Sender;
  readonly #refuse: (error: unknown) => void;
  #room: BodyRoom | undefined;
  #blocks: Buffer[] = [];
  #reserved = 0;

  /**
   * @param refuse called when another sender needs the room, after everything was freed
   */
  constructor(budget: BodyBudget, sender: Sender, refuse: (error: unknown) => void) {
    this.#budget = budget;
    this.#sender = sender;
    this.#refuse = refuse;
  }

  /** Copies a piece; `false` if the budget has no room for it. */
  add(piece: Buffer): boolean {
    for (let taken = 0; taken < piece.length;) {
      if (this.#reserved === this.length && !this.#grow(piece.length - taken)) return false;
      const last = this.#blocks.at(-1) as Buffer;
      const copied = piece.copy(last, last.length - (this.#reserved - this.length), taken);
      taken += copied;
      this.length += copied;
    }
    return true;
  }

  /** The cost of the parsed body. */
  get cost(): number {
    return costOf(this.#received());
  }

  /** The whole body in one buffer. Pass it to `giveBack` once it is parsed. */
  join(): Buffer {
    if (this.length > BLOCK_BYTES) return this.#budget.memory.join(this.#blocks, this.length);
    return Buffer.concat(this.#blocks, this.length);
  }

  /** Lets the next large body reuse the result of `join`. */
  giveBack(whole: Buffer): void {
    if (whole.length > BLOCK_BYTES) this.#budget.memory.giveBack(whole);
  }

  *#received(): Iterable<Buffer> {
    let left = this.length;
    for (const block of this.#blocks) {
      yield block.subarray(0, left);
      left -= block.length;
    }
  }

  #grow(wanted: number): boolean {
    const size = Math.max(wanted, Math.min(this.length, BLOCK_BYTES), SMALLEST_BLOCK);
    const isLent = size > BLOCK_BYTES / 2;
    const reserved = isLent ? BLOCK_BYTES : size;
    this.#room ??= this.#budget.open(this.#sender, () => this.#refuse(tooBusy()));
    if (!this.#budget.grow(this.#room, reserved)) return false;
    this.#blocks.push(isLent ? this.#budget.memory.take() : Buffer.allocUnsafeSlow(size));
    this.#reserved += reserved;
    return true;
  }

  /** Returns everything to the budget. */
  free(): void {
    this.#room?.close();
    for (const block of this.#blocks) {
      if (block.length === BLOCK_BYTES) this.#budget.memory.give(block);
    }
    this.#blocks = [];
    this.#reserved = 0;
  }
}
