/**
 * The memory that bodies arrive in: blocks of one stretch, of which the system gives a page when it is
 * first written to. A buffer for each block would be garbage afterwards, and garbage outside its heap
 * is what the engine sees last: it lay around by the hundred mebibytes while bodies came.
 */
export const BLOCK_BYTES = 64 * 1024;

/** What is kept for the next bodies when none is there; after a flood the rest goes back. */
const KEPT_BLOCKS = 128;

/** Bodies up to this size leave little behind, and are what many runtimes send every day. */
const LITTLE_BYTES = 1 << 20;
/** Before or after so many bytes of larger ones the engine is asked to look for garbage. */
const BYTES_BEFORE_HINT = 4 << 20;
/** What the engine lets pile up outside its heap; a buffer of that size makes it look. */
const HINT_BYTES = 64 << 20;

/** Lends blocks, and a place in which the blocks of one body are put together. */
export class BodyMemory {
  readonly #blocks: number;
  #stretch: Buffer | undefined;
  #whole: Buffer | undefined;
  #free: Buffer[] = [];
  #touched = 0;
  #workBytes = 0;
  #hints = 0;

  /** @param limit the most bytes that are lent, rounded up to whole blocks */
  constructor(limit: number) {
    this.#blocks = Math.ceil(limit / BLOCK_BYTES);
  }

  /** The blocks that are lent. */
  get lent(): number {
    return this.#touched - this.#free.length;
  }

  /** The blocks that were lent since memory was last given back. */
  get touched(): number {
    return this.#touched;
  }

  /** How often the engine was asked to look for garbage. */
  get hints(): number {
    return this.#hints;
  }

  /** Lends a block, as it was left; the one that came back last first. */
  take(): Buffer {
    const used = this.#free.pop();
    if (used) return used;
    if (this.#touched === this.#blocks) throw new Error("No block is left");
    this.#stretch ??= Buffer.allocUnsafeSlow(this.#blocks * BLOCK_BYTES);
    const start = this.#touched++ * BLOCK_BYTES;
    return this.#stretch.subarray(start, start + BLOCK_BYTES);
  }

  /** Takes a block back. */
  give(block: Buffer): void {
    this.#free.push(block);
    if (this.lent > 0 || this.#touched <= KEPT_BLOCKS) return;
    this.#stretch = undefined;
    this.#whole = undefined;
    this.#free = [];
    this.#touched = 0;
  }

  /**
   * Hears that a body is about to be parsed, stored and answered, and again that it was. What that
   * leaves behind is several times its size, and the engine would wait for more before it looks. A large
   * buffer is how it hears that memory is wanted; nothing is written there, so the system gives none.
   */
  workOn(bytes: number): void {
    if (bytes <= LITTLE_BYTES) return;
    this.#workBytes += bytes;
    if (this.#workBytes < BYTES_BEFORE_HINT) return;
    this.#workBytes = 0;
    this.#hints++;
    Buffer.allocUnsafeSlow(HINT_BYTES);
  }

  /** Puts buffers together. The result is given back when it was parsed, for the next body. */
  join(parts: readonly Buffer[], length: number): Buffer {
    let whole = this.#whole;
    this.#whole = undefined;
    if (whole === undefined || whole.length < length) {
      whole = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(length)));
    }
    let end = 0;
    for (const part of parts) end += part.copy(whole, end, 0, length - end);
    return whole.subarray(0, end);
  }

  /** Takes back what `join` returned: the longest is kept. */
  giveBack({ buffer }: Buffer): void {
    if (buffer.byteLength > (this.#whole?.length ?? 0)) this.#whole = Buffer.from(buffer);
  }
}
