/**
 * Reads bytes four at a time, as little-endian words of 32 bits. Work that is done for every byte of a log of
 * gigabytes is done by word here: comparing, hashing, and searching for the end of a JSON string, by the
 * classic trick that finds in a few operations whether one of four bytes is below a bound.
 */

/** A word may begin at the last byte of a text, so this many readable bytes must follow the text. */
export const SPARE_BYTES = 4;

/** The words of some bytes, which are copied if too few readable bytes follow them. */
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
/** With this bit inverted, a quote (0x22) is below 0x21, like a control character; no other byte becomes so. */
const QUOTE_BIT = repeated(0x02);
const ABOVE_QUOTE = repeated(0x21);

/**
 * Marks the bytes of a word that must be escaped in a JSON string: a quote, a backslash, a control character.
 * The lowest bit that is set belongs to the first such byte; 0 means that there is none.
 */
export function specialsIn(word: number): number {
  const quotes = word ^ QUOTE_BIT;
  const backslashes = word ^ BACKSLASHES;
  // A borrow may falsely mark a byte above a marked one, never the first.
  const marks = ((quotes - ABOVE_QUOTE) & ~quotes) | ((backslashes - ONES) & ~backslashes);
  return marks & HIGH_BITS;
}

/** The number of bytes of a word before the first marked one. */
export function bytesBefore(marks: number): number {
  return (31 - Math.clz32(marks & -marks)) >>> 3;
}

/** Whether two ranges have the same bytes. */
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

/**
 * The 32-bit hash of a text: MurmurHash3 (x86, seed 0) over its UTF-8. It takes four bytes at a time, so the
 * scan for the end of a value in a line computes its hash on the way. It is written into sidecars, so it
 * never changes within a format version. Where hashes are equal, the texts are always compared.
 */
export function hashOf(text: string): number {
  const bytes = Buffer.allocUnsafe(text.length * 3 + SPARE_BYTES);
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = bytes.write(text, "utf8");
  let hash = 0;
  let at = 0;
  for (; at + 4 <= length; at += 4) hash = hashWord(hash, words.getInt32(at, true));
  return hashEnd(hash, words.getInt32(at, true) & ~(-1 << (8 * (length - at))), length);
}

/** Continues a hash, which begins with 0, by four bytes as a little-endian number. */
export function hashWord(hash: number, word: number): number {
  const mixed = hash ^ scrambled(word);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

/** Ends a hash with the remaining bytes, three at most, and the length of all in bytes. */
export function hashEnd(hash: number, rest: number, length: number): number {
  let mixed = hash ^ scrambled(rest) ^ length;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function scrambled(word: number): number {
  const once = Math.imul(word, 0xcc9e2d51);
  return Math.imul((once << 15) | (once >>> 17), 0x1b873593);
}

/** The indices of a list of hashes, in the order of the hashes. */
export function orderByHash(hashes: Uint32Array): Uint32Array {
  const { length } = hashes;
  if (length > 2 ** 21) {
    const order = Uint32Array.from(hashes.keys());
    return order.sort((a, b) => (hashes[a] as number) - (hashes[b] as number) || a - b);
  }
  // Hash and index in one number of 53 bits: sorted without callbacks, ten times as fast.
  const keys = new Float64Array(length);
  for (let i = 0; i < length; i++) keys[i] = (hashes[i] as number) * length + i;
  keys.sort();
  const order = new Uint32Array(length);
  for (let i = 0; i < length; i++) order[i] = (keys[i] as number) % length;
  return order;
}
