/**
 * The commands of a segment that grows. Equal commands are kept once: a row holds the number of its
 * text, so a search goes through each text once, however many rows have it. The texts stand in lower
 * case, one after another in UTF-8, each followed by a byte FF; for each block of 256 of them there
 * is a filter of trigrams as soon as the block is full.
 */
import { GrowingDictionary } from "./growing-dictionary.ts";
import { grown } from "./growing-dictionary.ts";
import { COMMAND, type LineScanner } from "./line-scanner.ts";
import { addTrigrams, BLOCK_TEXTS, blocksInFilters, FILTER_BYTES } from "./trigrams.ts";

/** Texts in lower case, each once. */
export class GrowingTexts {
  readonly #dictionary = new GrowingDictionary();
  #filters: Uint8Array = new Uint8Array(0);
  #filtered = 0;

  /** The number of a line's command, which is added if it is new; 0 for none. */
  add(line: LineScanner): number {
    const number = this.#dictionary.addFrom(line, COMMAND);
    if (this.#filtered < this.fullBlocks) this.#addFilter(this.#filtered++);
    return number;
  }

  /** How many texts there are; their numbers are 1 to `count`. */
  get count(): number {
    return this.#dictionary.size;
  }

  /** Where each text begins, that of number 1 first, and where one more would. */
  get starts(): Uint32Array {
    return this.#dictionary.lowerEnds;
  }

  /** The texts with their separators. */
  get bytes(): Buffer {
    return this.#dictionary.lower;
  }

  /** The filters of all blocks that are full. */
  get filters(): Uint8Array {
    return this.#filters.subarray(0, this.fullBlocks * FILTER_BYTES);
  }

  get fullBlocks(): number {
    return Math.floor(this.count / BLOCK_TEXTS);
  }

  /** The full blocks whose filters have all the bits. */
  blocksWith(bits: Uint16Array): readonly number[] {
    return blocksInFilters(this.#filters, this.fullBlocks, bits);
  }

  #addFilter(block: number): void {
    const at = block * FILTER_BYTES;
    if (at === this.#filters.length) this.#filters = grown(this.#filters, 8 * FILTER_BYTES);
    const { bytes, starts } = this;
    const from = starts[block * BLOCK_TEXTS] as number;
    addTrigrams(this.#filters, at, bytes, from, starts[(block + 1) * BLOCK_TEXTS] as number);
  }
}
