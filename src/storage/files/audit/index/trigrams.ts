/**
 * Trigram filters, which save a search from reading most of the commands. Each block of 256 texts has a filter of
 * 8,192 bits for the sequences of three bytes in the block: one bit for each sequence, by its hash. A text of the
 * block can contain the needle only if the filter has the bits of all of the needle's sequences. Small blocks and
 * the high bits of the product matter: with a hash of two of the three bytes, or with thousands of texts in a
 * block, nearly all bits would be set and no block could be skipped.
 *
 * The filters are made when a segment is sealed, and stored transposed: a slice for each of the 8,192 bits, with
 * one bit for each block. A search ANDs the slices of the needle's bits, 32 blocks at a time. Usually five slices
 * are enough to see that the segment has no match.
 */
import type { Work } from "../../../../core/scheduling/work.ts";
import type { TextBuffer } from "./text-buffer.ts";

const BLOCK_TEXTS = 256;
const FILTER_BITS = 8192;
const SHIFT = 32 - 13; // 8,192 bits
const WORD = 32;
/** The bytes that are added to a filter in one part of the work: about 0.3 ms. */
const PART_BYTES = 64 << 10;
/** The most bits that a search tests: further bits hardly rule out more blocks. */
const MAX_BITS = 256;

/** A text to find, in any letter case. */
export interface SearchedText {
  /** The text in lower case. */
  readonly needle: Buffer;
  /** The bits that a trigram filter must have. */
  readonly bits: Uint16Array;
  /**
   * The buffer into which the searched texts are read. With a new buffer for each piece, garbage collection would
   * take most of the time of a search.
   */
  readonly room: Buffer;
}

/** Makes the slices of some texts. */
export function* trigramSlices({ bytes, ends }: TextBuffer): Work<Uint32Array> {
  const words = wordsFor(ends.length);
  const slices = new Uint32Array(FILTER_BITS * words);
  for (let first = 0; first < ends.length; first += BLOCK_TEXTS) {
    const block = first / BLOCK_TEXTS;
    const start = ends[first - 1] ?? 0;
    const end = endOfBlock(ends, block);
    for (let at = start; at < end; at += PART_BYTES) {
      // Later parts begin two bytes early, with the sequences that reach into them.
      const part = bytes.subarray(Math.max(start, at - 2), Math.min(end, at + PART_BYTES));
      addTrigrams(slices, words, block, part);
      yield;
    }
  }
  return slices;
}

/** Marks the sequences in a part of a block. V8 compiles this loop better than one in a generator. */
function addTrigrams(slices: Uint32Array, words: number, block: number, part: Uint8Array): void {
  const mark = 1 << (block & (WORD - 1));
  let window = 0xffff;
  for (let i = 0; i < part.length; i++) {
    window = ((window << 8) | (part[i] as number)) & 0xffffff;
    const place = bitOf(window) * words + (block >>> 5);
    slices[place] = (slices[place] as number) | mark;
  }
}

/** The bits of a text's sequences, from its beginning; empty if it is shorter than a sequence. */
export function bitsOf(text: Uint8Array): Uint16Array {
  const bits = new Uint16Array(Math.min(MAX_BITS, Math.max(0, text.length - 2)));
  for (let i = 0; i < bits.length; i++) {
    const first = ((text[i] as number) << 16) | ((text[i + 1] as number) << 8);
    bits[i] = bitOf(first | (text[i + 2] as number));
  }
  return bits;
}

/** Runs of adjacent blocks that have all the bits: the first text of each run, and the end of its last one. */
export function* runsWith(
  slices: Uint32Array,
  ends: Uint32Array,
  bits: Uint16Array,
): Generator<{ readonly first: number; readonly end: number }> {
  const blocks = blocksWith(slices, ends.length, bits);
  for (let i = 0; i < blocks.length;) {
    const first = blocks[i++] as number;
    let last = first;
    while (blocks[i] === last + 1) last = blocks[i++] as number;
    yield { first: first * BLOCK_TEXTS, end: endOfBlock(ends, last) };
  }
}

/** The blocks that have all the bits, ascending. */
function blocksWith(slices: Uint32Array, texts: number, bits: Uint16Array): readonly number[] {
  const words = wordsFor(texts);
  const found: number[] = [];
  for (let word = 0; word < words; word++) {
    let left = -1;
    for (let i = 0; i < bits.length && left !== 0; i++) {
      left &= slices[(bits[i] as number) * words + word] as number;
    }
    for (; left !== 0; left &= left - 1) {
      const block = word * WORD + 31 - Math.clz32(left & -left);
      if (block * BLOCK_TEXTS < texts) found.push(block); // without bits, any block is found
    }
  }
  return found;
}

function bitOf(sequence: number): number {
  return Math.imul(sequence, 0x9e3779b1) >>> SHIFT;
}

/** The number of 32-bit words in a slice, given the number of texts. */
function wordsFor(texts: number): number {
  return Math.ceil(texts / BLOCK_TEXTS / WORD);
}

function endOfBlock(ends: Uint32Array, block: number): number {
  return ends[Math.min((block + 1) * BLOCK_TEXTS, ends.length) - 1] as number;
}
