/**
 * Bytes four at a time. What is done once for every byte of a log of gigabytes is done in words of 32
 * bits here, little-endian: compared, hashed, and searched for the end of a JSON string by the classic
 * trick that tells in a few operations whether one of four bytes is below a bound.
 */

/** A word is read at any byte of a text, so this many bytes have to follow its last one. */
export const SPARE_BYTES = 4;

/** The words of some bytes, which are copied when nothing that may be read follows them. */
export function withSpareBytes(bytes: Uint8Array): DataView {
  const { buffer, byteOffset, length } = bytes;
  if (byteOffset + length + SPARE_BYTES <= buffer.byteLength) {
    return new DataView(buffer, byteOffset, length + SPARE_BYTES);
  }
  const copy = new Uint8Array(length + SPARE_BYTES);
  copy.set(bytes);
  return new DataView(copy.buffer);
}

/** Every byte of a word set to one value. */
export function repeated(byte: number): number {
  return Math.imul(byte, 0x01010101);
}

const ONES = repeated(0x01);
const HIGH_BITS = repeated(0x80);
const BACKSLASHES = repeated(0x5c);
/** With this bit turned over a quote, 0x22, is below 0x21, as a control character is, and nothing else. */
const QUOTE_BIT = repeated(0x02);
const ABOVE_QUOTE = repeated(0x21);

/**
 * Where a word has what cannot stand in a JSON string as it is: a quote, a backslash, a control
 * character. The lowest bit that is set belongs to the first such byte; 0 means there is none.
 */
export function specialsIn(word: number): number {
  const quotes = word ^ QUOTE_BIT;
  const backslashes = word ^ BACKSLASHES;
  // A borrow may mark a byte above a marked one by mistake, never the first.
  const marks = ((quotes - ABOVE_QUOTE) & ~quotes) | ((backslashes - ONES) & ~backslashes);
  return marks & HIGH_BITS;
}

/** How many bytes of a word stand before the first one that is marked. */
export function bytesBefore(marks: number): number {
  return (31 - Math.clz32(marks & -marks)) >>> 3;
}

/** Whether the same bytes stand at two places. */
export function areEqual(
  a: DataView,
  atA: number,
  b: DataView,
  atB: number,
  length: number,
): boolean {
  let done = 0;
  for (; done + 4 <= length; done += 4) {
    if (a.getInt32(atA + done, true) !== b.getInt32(atB + done, true)) return false;
  }
  const difference = a.getInt32(atA + done, true) ^ b.getInt32(atB + done, true);
  return (difference & ~(-1 << (8 * (length - done)))) === 0;
}
