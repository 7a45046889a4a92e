/**
 * Hears how an append ended; must not throw. Without an error the text stands in the file with that
 * number, from byte `offset`, `length` bytes long.
 */
export type Appended = (error: unknown, sequence: number, offset: number, length: number) => void;

interface Entry {
  /** Where its text begins in the block, in UTF-16 units. */
  readonly at: number;
  readonly done: Appended;
}

/** Texts that are written together, and those who wait for them. */
export class LogBlock {
  readonly #entries: Entry[] = [];
  #text = ""; // concatenating beats a list of buffers: one encoding, one write
  #start = 0;
  #end = 0;
  /** Whether the answers wait for a sync. */
  sync = false;
  /** Written, and synced where that was asked for. */
  done = false;

  /** In UTF-16 units. */
  get length(): number {
    return this.#text.length;
  }

  /** Where the block ends in the file, once it is `placed`. */
  get end(): number {
    return this.#end;
  }

  add(text: string, done: Appended): void {
    this.#entries.push({ at: this.#text.length, done });
    this.#text += text;
  }

  /** Encodes the block, which will begin at that byte of the file. */
  place(start: number): Buffer {
    const bytes = Buffer.from(this.#text, "utf8");
    this.#start = start;
    this.#end = start + bytes.length;
    return bytes;
  }

  /** Answers everybody with the place of their text. */
  answer(sequence: number): void {
    const isAscii = this.#end - this.#start === this.#text.length; // then units are bytes
    let offset = this.#start;
    for (let i = 0; i < this.#entries.length; i++) {
      const { at, done } = this.#entries[i] as Entry;
      const next = this.#entries[i + 1]?.at ?? this.#text.length;
      const length = isAscii ? next - at : Buffer.byteLength(this.#text.slice(at, next), "utf8");
      done(null, sequence, offset, length);
      offset += length;
    }
  }

  refuse(error: unknown): void {
    for (const { done } of this.#entries) done(error, 0, 0, 0);
  }
}
