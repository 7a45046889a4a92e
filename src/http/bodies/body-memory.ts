/**
 * The memory into which bodies are received: one allocation, divided into blocks. The operating system
 * provides each page when it is first written. A buffer for each block would become garbage outside the
 * JavaScript heap, which V8 collects late: such buffers piled up to hundreds of mebibytes.
 */
export const BLOCK_BYTES = 64 * 1024;

/** The most used blocks that are kept when all blocks are free again. If more were used, all memory is freed. */
const KEPT_BLOCKS = 128;

/** Bodies up to this size leave little garbage; most batches of runtimes are smaller. */
const LITTLE_BYTES = 1 << 19;
/** After this many bytes of larger bodies the garbage collector gets a hint. */
const BYTES_BEFORE_HINT = 4 << 20;
/** Allocating a buffer of this size makes V8 collect the garbage outside its heap. */
const HINT_BYTES = 64 << 20;

/** Lends blocks, and one buffer in which the blocks of a body are joined. */
export class BodyMemory {
  readonly #blocks: number;
  #stretch: Buffer | undefined;
  #whole: Buffer | undefined;
  #free: Buffer[] = [];
  #touched = 0;
  #workBytes = 0;
  #hints = 0;

  /**
   * @param limit the most bytes that are lent, rounded up to whole blocks
   */
  constructor(limit: number) {
    this.#blocks = Math.ceil(limit / BLOCK_BYTES);
  }

  /** The number of lent blocks. */
  get lent(): number {
    return this.#touched - this.#free.length;
  }

  /** The number of blocks that were used since the memory was last freed. */
  get touched(): number {
    return this.#touched;
  }

  /** The number of hints that the garbage collector got. */
  get hints(): number {
    return this.#hints;
  }

  /** Lends a block with its old content. The block that was returned last is lent first. */
  take(): Buffer {
    const used = this.#free.pop();
    if (used) return used;
    if (this.#touched === this.#blocks) throw new Error("No block is left");
    this.#stretch ??= Buffer.allocUnsafeSlow(this.#blocks * BLOCK_BYTES);
    const start = this.#touched++ * BLOCK_BYTES;
    return this.#stretch.subarray(start, start + BLOCK_BYTES);
  }

  give(block: Buffer): void {
    this.#free.push(block);
    if (this.lent > 0 || this.#touched <= KEPT_BLOCKS) return;
    this.#stretch = undefined;
    this.#whole = undefined;
    this.#free = [];
    this.#touched = 0;
  }

  /**
   * Call before a body is parsed and after the request was answered. Both leave garbage of several times
   * the size of the body, and V8 would wait for more before it collects. Allocating a large buffer makes it
   * collect. The buffer is never written, so the operating system provides no memory for it.
   */
  workOn(bytes: number): void {
    if (bytes <= LITTLE_BYTES) return;
    this.#workBytes += bytes;
    if (this.#workBytes < BYTES_BEFORE_HINT) return;
    this.#workBytes = 0;
    this.#hints++;
    Buffer.allocUnsafeSlow(HINT_BYTES);
  }

  /** Joins buffers. Pass the result to `giveBack` once it is parsed: the next body reuses it. */
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

  /** Takes back the result of `join`, and keeps the longest buffer. */
  giveBack({ buffer }: Buffer): void {
    if (buffer.byteLength > (this.#whole?.length ?? 0)) this.#whole = Buffer.from(buffer);
  }
}
