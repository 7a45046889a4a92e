import type { Work } from "../../../../core/scheduling/work.ts";
import { grown } from "../../grown.ts";

const FIRST_TEXTS = 8;
const FIRST_BYTES = 128;
/** The number of texts that are encoded in one part of the work: about 0.1 ms. */
const TEXTS_AT_ONCE = 256;
/** Separates lower-cased texts. This byte cannot occur in UTF-8, so a match never crosses a boundary. */
const SEPARATOR = 0xff;

/** Texts in UTF-8, one after another in one buffer. */
export class TextBuffer {
  count = 0;
  #bytes = Buffer.alloc(FIRST_BYTES);
  #ends = new Uint32Array(FIRST_TEXTS);

  /** The texts so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#ends[this.count - 1] ?? 0);
  }

  /** The end of each text. */
  get ends(): Uint32Array {
    return this.#ends.subarray(0, this.count);
  }

  /** Appends a text. */
  add(text: string): void {
    this.#reserve(3 * text.length);
    const start = this.#ends[this.count - 1] ?? 0;
    this.#ends[this.count++] = start + this.#bytes.write(text, start, "utf8");
  }

  /** Appends a text in lower case, and a separator. */
  addLowerCased(text: string): void {
    const lower = text.toLowerCase();
    this.#reserve(3 * lower.length + 1);
    const start = this.#ends[this.count - 1] ?? 0;
    const end = start + this.#bytes.write(lower, start, "utf8");
    this.#bytes[end] = SEPARATOR;
    this.#ends[this.count++] = end + 1;
  }

  /** Makes room for another text. */
  #reserve(bytes: number): void {
    if (this.count === this.#ends.length) this.#ends = grown(this.#ends);
    const least = (this.#ends[this.count - 1] ?? 0) + bytes;
    if (least > this.#bytes.length) this.#bytes = grown(this.#bytes, least);
  }
}

/** Encodes some texts. */
export function* encodeTexts(texts: readonly string[]): Work<TextBuffer> {
  const buffer = new TextBuffer();
  for (const text of texts) {
    buffer.add(text);
    if (buffer.count % TEXTS_AT_ONCE === 0) yield;
  }
  return buffer;
}
