/**
 * Called when an append has ended; must not throw. Without an error the text is in the file with that
 * number, from byte `offset`, as these `bytes`, which the callback may keep and change.
 */
export type Appended = (
  error: unknown,
  sequence: number,
  offset: number,
  length: number,
  bytes?: Buffer,
) => void;

const NO_BYTES = Buffer.alloc(0);
/** A block takes no more texts once it is this long, so that the loop is never held for long. */
const FULL_LENGTH = 1 << 20;

interface Entry {
  /** Where its text begins in the block, in UTF-16 units. */
  readonly from: number;
  readonly done: Appended;
}

/** Texts that are written together, and their callbacks. */
export class LogBlock {
  readonly #entries: Entry[] = [];
  #text = ""; // concatenating beats a list of buffers: one encoding, one write
  #given: Buffer | undefined;
  #bytes: Buffer = NO_BYTES;
  #start = 0;
  #end = 0;
  /** Whether the sync that the answers wait for has succeeded. */
  synced = false;

  /** In UTF-16 units, or in bytes where bytes were given. */
  get length(): number {
    return this.#given?.length ?? this.#text.length;
  }

  /** Whether another text may be added: bytes are written alone, as they are. */
  get takesMore(): boolean {
    return this.#given === undefined && this.#text.length < FULL_LENGTH;
  }

  /** What was written, once it is placed. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Where the block begins in the file, once it is placed. */
  get start(): number {
    return this.#start;
  }

  /** Where the block ends in the file, once it is placed. */
  get end(): number {
    return this.#end;
  }

  add(text: string | Buffer, done: Appended): void {
    this.#entries.push({ from: this.#text.length, done });
    if (typeof text === "string") this.#text += text;
    else this.#given = text;
  }

  /** Encodes the block, which will begin at that byte of the file. */
  place(start: number): Buffer {
    this.#bytes = this.#given ?? Buffer.from(this.#text, "utf8");
    this.#start = start;
    this.#end = start + this.#bytes.length;
    return this.#bytes;
  }

  /** Calls every callback back with the place of its text. */
  answer(sequence: number): void {
    const isAscii = this.#end - this.#start === this.length; // then units are bytes
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
