/**
 * Trigram filters, which keep a search from reading most of the text. For each block of 256 texts a filter
 * of 8,192 bits says which sequences of three bytes occur in the block: one bit for each, by hash. A text
 * can contain another only if its block has all of the other's sequences. Small blocks and the high bits
 * of the product matter: a hash of two of the three bytes, or a block of thousands of texts, would fill
 * the filter and skip nothing.
 *
 * A sealed segment stores its filters transposed: for each of the 8,192 bits one bit for each block, a
 * slice. A search ANDs the slices of its own bits, 32 blocks at a time, and mostly knows after five of
 * them that the segment has no match.
 */
export const BLOCK_TEXTS = 256;
export const FILTER_BITS = 8192;
export const FILTER_BYTES = FILTER_BITS / 8;
const SHIFT = 32 - 13; // 8,192 bits
const WORD = 32;

/** Enters the sequences of some bytes into the filter that begins at `filterStart` of `filters`. */
export function addTrigrams(
  filters: Uint8Array,
  filterStart: number,
  text: Uint8Array,
  from: number,
  to: number,
): void {
  if (to - from < 3) return;
  let window = ((text[from] as number) << 8) | (text[from + 1] as number);
  for (let i = from + 2; i < to; i++) {
    window = ((window << 8) | (text[i] as number)) & 0xffffff;
    const bit = Math.imul(window, 0x9e3779b1) >>> SHIFT;
    const at = filterStart + (bit >>> 3);
    filters[at] = (filters[at] as number) | (1 << (bit & 7));
  }
}

/** The most bits that a search tests: further ones rule out hardly any more blocks. */
const MAX_BITS = 256;

/** The bits of a text's sequences, from its beginning; empty if it is shorter than a sequence. */
export function bitsOf(text: Uint8Array): Uint16Array {
  const bits = new Uint16Array(Math.min(MAX_BITS, Math.max(0, text.length - 2)));
  for (let i = 0; i < bits.length; i++) {
    const first = ((text[i] as number) << 16) | ((text[i + 1] as number) << 8);
    bits[i] = Math.imul(first | (text[i + 2] as number), 0x9e3779b1) >>> SHIFT;
  }
  return bits;
}

/** Whether a filter has all the bits, so that the block may contain the text. */
export function mayHold(filters: Uint8Array, filterStart: number, bits: Uint16Array): boolean {
  for (let i = 0; i < bits.length; i++) {
    const bit = bits[i] as number;
    if (((filters[filterStart + (bit >>> 3)] as number) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** The number of 32-bit words in a slice, given the number of blocks. */
function wordsFor(blocks: number): number {
  return Math.ceil(blocks / WORD);
}

/** Turns filters that lie one after another into slices. */
export function sliceFilters(filters: Uint8Array, blocks: number): Uint32Array {
  const words = wordsFor(blocks);
  const slices = new Uint32Array(FILTER_BITS * words);
  for (let block = 0; block < blocks; block++) {
    const word = block >>> 5;
    const mark = 1 << (block & (WORD - 1));
    const start = block * FILTER_BYTES;
    for (let i = 0; i < FILTER_BYTES; i++) {
      for (let left = filters[start + i] as number; left !== 0; left &= left - 1) {
        const at = (i * 8 + 31 - Math.clz32(left & -left)) * words + word;
        slices[at] = (slices[at] as number) | mark;
      }
    }
  }
  return slices;
}

/** The blocks that have all the bits, ascending. */
export function blocksInSlices(
  slices: Uint32Array,
  blocks: number,
  bits: Uint16Array,
): readonly number[] {
  const words = wordsFor(blocks);
  const found: number[] = [];
  for (let word = 0; word < words; word++) {
    let left = -1;
    for (let i = 0; i < bits.length && left !== 0; i++) {
      left &= slices[(bits[i] as number) * words + word] as number;
    }
    for (; left !== 0; left &= left - 1) {
      const block = word * WORD + 31 - Math.clz32(left & -left);
      if (block < blocks) found.push(block);
    }
  }
  return found;
}

/** The same for filters that lie one after another. */
export function blocksInFilters(
  filters: Uint8Array,
  blocks: number,
  bits: Uint16Array,
): readonly number[] {
  const found: number[] = [];
  for (let block = 0; block < blocks; block++) {
    if (mayHold(filters, block * FILTER_BYTES, bits)) found.push(block);
  }
  return found;
}
