/**
 * The commands of a segment that grows. Equal commands are kept once: a row holds the number of its
 * text, so a search goes through each text once, however many rows have it. The texts stand in lower
 * case, one after another in UTF-8, each followed by a byte FF; for each block of 256 of them there
 * is a filter of trigrams as soon as the block is full.
 */
import { GrowingDictionary, SEPARATOR } from "./dictionary.ts";
import { addTrigrams, BLOCK_TEXTS, blocksInFilters, FILTER_BYTES } from "./trigrams.ts";

const FIRST_TEXTS = 256;
/** No text in UTF-8 becomes longer than this for each UTF-16 unit of it. */
const UNIT_BYTES = 3;

/** Texts in lower case, each once. */
export class GrowingTexts {
  readonly #dictionary = new GrowingDictionary();
  #starts = new Uint32Array(FIRST_TEXTS + 1);
  #bytes = Buffer.alloc(FIRST_TEXTS * 16);
  #filters = new Uint8Array(0);
  #count = 0;

  /** The number of a text, which is added if it is new; 0 for none. */
  add(text: string | undefined): number {
    const number = this.#dictionary.add(text);
    if (number > this.#count) this.#append((text as string).toLowerCase());
    return number;
  }

  /** How many texts there are; their numbers are 1 to `count`. */
  get count(): number {
    return this.#count;
  }

  /** Where each text begins, that of number 1 first, and where one more would. */
  get starts(): Uint32Array {
    return this.#starts;
  }

  /** The texts with their separators. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#starts[this.#count]);
  }

  /** The filters of all blocks that are full. */
  get filters(): Uint8Array {
    return this.#filters.subarray(0, this.fullBlocks * FILTER_BYTES);
  }

  get fullBlocks(): number {
    return Math.floor(this.#count / BLOCK_TEXTS);
  }

  /** The full blocks whose filters have all the bits. */
  blocksWith(bits: Uint16Array): readonly number[] {
    return blocksInFilters(this.#filters, this.fullBlocks, bits);
  }

  #append(lower: string): void {
    const count = this.#count;
    if (count + 1 === this.#starts.length) {
      const longer = new Uint32Array(2 * count + 1);
      longer.set(this.#starts);
      this.#starts = longer;
    }
    let end = this.#starts[count] as number;
    const needed = end + lower.length * UNIT_BYTES + 1;
    if (needed > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], Math.max(needed, this.#bytes.length * 2));
    }
    end += this.#bytes.write(lower, end);
    this.#bytes[end++] = SEPARATOR;
    this.#starts[count + 1] = end;
    this.#count = count + 1;
    if (this.#count % BLOCK_TEXTS === 0) this.#addFilter(this.fullBlocks - 1, end);
  }

  #addFilter(block: number, end: number): void {
    const at = block * FILTER_BYTES;
    if (at === this.#filters.length) {
      const longer = new Uint8Array(Math.max(8 * FILTER_BYTES, 2 * at));
      longer.set(this.#filters);
      this.#filters = longer;
    }
    addTrigrams(this.#filters, at, this.#bytes, this.#starts[block * BLOCK_TEXTS] as number, end);
  }
}
