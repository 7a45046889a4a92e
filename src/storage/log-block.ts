/**
 * Called when an append has ended; must not throw. Without an error, the text is in the file with that number, from
 * byte `offset` on. `bytes` is the written text, which the callback may keep and change.
 */
export type Appended = (
  error: unknown,
  sequence: number,
  offset: number,
  length: number,
  bytes?: Buffer,
) => void;

const NO_BYTES = Buffer.alloc(0);
/** The length at which a block is full, so that writing it does not block the event loop for long. */
const FULL_LENGTH = 1 << 20;

interface Entry {
  /** The start of its text in the block, in UTF-16 units. */
  readonly from: number;
  readonly done: Appended;
}

/** Texts that are written together, and their callbacks. */
export class LogBlock {
  readonly #entries: Entry[] = [];
  #text = ""; // concatenation is faster than a list of buffers: one encoding, one write
  #given: Buffer | undefined;
  #bytes: Buffer = NO_BYTES;
  #start = 0;
  /** Whether the sync for which the answers wait has succeeded. */
  synced = false;

  /** The length in UTF-16 units, or in bytes for a block of bytes. */
  get length(): number {
    return this.#given?.length ?? this.#text.length;
  }

  /** Whether another text may be added; bytes have a block of their own. */
  get takesMore(): boolean {
    return this.#given === undefined && this.#text.length < FULL_LENGTH;
  }

  /** The start of the block in the file, once it is placed. */
  get start(): number {
    return this.#start;
  }

  /** The end of the block in the file, once it is placed. */
  get end(): number {
    return this.#start + this.#bytes.length;
  }

  add(text: string | Buffer, done: Appended): void {
    this.#entries.push({ from: this.#text.length, done });
    if (typeof text === "string") this.#text += text;
    else this.#given = text;
  }

  /** Encodes the block, which begins at that byte of the file. */
  place(start: number): Buffer {
    this.#bytes = this.#given ?? Buffer.from(this.#text, "utf8");
    this.#start = start;
    return this.#bytes;
  }

  /** Calls every callback with the place of its text. */
  answer(sequence: number): void {
    const isAscii = this.#bytes.length === this.length; // then units are bytes
    let at = 0;
    for (let i = 0; i < this.#entries.length; i++) {
      const { from, done } = this.#entries[i] as Entry;
      const to = this.#entries[i + 1]?.from ?? this.length;
      const length = isAscii ? to - from : Buffer.byteLength(this.#text.slice(from, to), "utf8");
      done(null, sequence, this.#start + at, length, this.#bytes.subarray(at, at + length));
      at += length;
    }
  }

  refuse(error: unknown): void {
    for (const { done } of this.#entries) done(error, 0, 0, 0);
  }
}
