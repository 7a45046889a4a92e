/**
 * What keeps a search from reading most of the text. For each block of 256 rows a filter of 8,192
 * bits says which sequences of three bytes occur in the block's text: one bit for each, by hash. A
 * text can stand in a block only when all of its own sequences do. Small blocks and the high bits of
 * the product matter: a hash that sees two of three bytes, or a block of thousands of rows, fills
 * the filter and skips nothing.
 */
export const BLOCK_ROWS = 256;
export const FILTER_BYTES = 1024;
const SHIFT = 32 - 13; // 8,192 bits

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

/** The bits that a text needs; none when it is shorter than a sequence. */
export function bitsOf(text: Uint8Array): Uint16Array {
  const bits = new Uint16Array(Math.max(0, text.length - 2));
  for (let i = 0; i < bits.length; i++) {
    const first = ((text[i] as number) << 16) | ((text[i + 1] as number) << 8);
    bits[i] = Math.imul(first | (text[i + 2] as number), 0x9e3779b1) >>> SHIFT;
  }
  return bits;
}

/** Whether a filter has all the bits, so that the text may stand in its block. */
export function mayHold(filters: Uint8Array, filterStart: number, bits: Uint16Array): boolean {
  for (let i = 0; i < bits.length; i++) {
    const bit = bits[i] as number;
    if (((filters[filterStart + (bit >>> 3)] as number) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
