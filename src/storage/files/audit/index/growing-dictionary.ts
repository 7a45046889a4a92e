/**
 * The dictionary of the active segment. Its texts lie one after another in one buffer, in the order of
 * their codes, beside a hash table of codes. A known value is found from the bytes of a line, without
 * making a string. Sealing copies the buffer. Lower-cased texts are built on first use or at sealing.
 *
 * The hash function is public, so a client can send values of equal hash. To keep them from slowing
 * inserts down, a value without a free slot near its place goes into a `Map`, whose hash has a secret
 * seed. With honest values that happens to one dictionary in thousands.
 */
import { areEqual, withSpareBytes, SPARE_BYTES, hashOf, orderByHash } from "./byte-words.ts";
import { SEPARATOR, type Dictionary } from "./dictionary.ts";
import { codesHolding } from "../query/text-finder.ts";
import type { LineScanner } from "./line-scanner.ts";

const FIRST_VALUES = 8;
const FIRST_BYTES = 128;
/**
 * The most slots that are probed. In a table that is half full, even a million values lie within about 70
 * slots.
 */
const MOST_LOOKS = 128;
const NO_SLOT = -1;
const LOWERED_AT_ONCE = 128 << 10;

/** A dictionary that takes new values. */
export class GrowingDictionary implements Dictionary {
  size = 0;
  #texts = Buffer.alloc(FIRST_BYTES);
  #words = withSpareBytes(this.#texts.subarray(0, -SPARE_BYTES));
  #ends = new Uint32Array(FIRST_VALUES); // by code, as the hashes; code 0 ends where code 1 begins
  #hashes = new Uint32Array(FIRST_VALUES);
  #slots = new Uint32Array(2 * FIRST_VALUES); // at most half full, so that probing ends soon
  readonly #crowded = new Map<string, number>(); // by the bytes, each of them as one character
  #lower = Buffer.alloc(0);
  #lowerEnds = new Uint32Array(0);
  #lowered = 0;
  readonly #decoded: (string | undefined)[] = [];

  /** The code of a value, which is added if it is new; 0 for `undefined`. */
  add(value: string | undefined): number {
    if (value === undefined) return 0;
    const bytes = Buffer.from(value, "utf8");
    return this.addBytes(withSpareBytes(bytes), 0, bytes.length, hashOf(value));
  }

  /** The code of a value of a scanned line. */
  addFrom(line: LineScanner, place: number): number {
    const end = line.ends[place] as number;
    if (end === 0) return 0;
    if (line.escaped[place] === 1) return this.add(line.textOf(place));
    const start = line.starts[place] as number;
    return this.addBytes(line.words, start, end - start, line.hashes[place] as number);
  }

  /** The code of a value that is given as UTF-8 with its hash. */
  addBytes(bytes: DataView, at: number, length: number, hash: number): number {
    const slot = this.#slotOf(bytes, at, length, hash);
    const code = this.#codeAt(slot, bytes, at, length);
    return code === 0 ? this.#insert(slot, bytes, at, length, hash) : code;
  }

  codeOf(value: string): number | undefined {
    const bytes = Buffer.from(value, "utf8");
    const view = withSpareBytes(bytes);
    const slot = this.#slotOf(view, 0, bytes.length, hashOf(value));
    return this.#codeAt(slot, view, 0, bytes.length) || undefined;
  }

  valueOf(code: number): string {
    return (this.#decoded[code] ??= this.bytesOf(code).toString("utf8"));
  }

  *search(needle: Buffer): Generator<undefined, readonly number[]> {
    while (!this.#lowerCaseSome()) yield;
    const { size } = this;
    const ends = this.#lowerEnds.subarray(1, size + 1);
    return yield* codesHolding(this.#lower.subarray(0, ends[size - 1] ?? 0), ends, needle);
  }

  /** The hashes of all values by code, beginning with code 1. */
  get hashes(): Uint32Array {
    return this.#hashes.subarray(1, this.size + 1);
  }

  /** All values in lower case, each followed by a separator. */
  get lower(): Buffer {
    this.#lowerCase();
    return this.#lower.subarray(0, this.#lowerEnds[this.size]);
  }

  /** The end of each lower-cased value in `lower`, including its separator, by code; 0 for code 0. */
  get lowerEnds(): Uint32Array {
    this.#lowerCase();
    return this.#lowerEnds;
  }

  /** The UTF-8 of a value. */
  bytesOf(code: number): Buffer {
    return this.#texts.subarray(this.#ends[code - 1], this.#ends[code]);
  }

  /** The block that a `PackedDictionary` reads. */
  pack(withLower: boolean): Buffer {
    const { size, hashes } = this;
    const order = orderByHash(hashes);
    const numbers = new Uint32Array(1 + 4 * size);
    numbers[0] = size;
    for (let i = 0; i < size; i++) {
      const index = order[i] as number;
      numbers[1 + i] = hashes[index] as number;
      numbers[1 + size + i] = index + 1;
    }
    numbers.set(this.#ends.subarray(1, size + 1), 1 + 2 * size);
    const parts: Uint8Array[] = [
      Buffer.from(numbers.buffer),
      this.#texts.subarray(0, this.#ends[size]),
    ];
    if (withLower) {
      numbers.set(this.lowerEnds.subarray(1, size + 1), 1 + 3 * size);
      parts.push(this.lower);
    }
    return Buffer.concat(parts);
  }

  /** The slot of a value's code, or a free one for it; `NO_SLOT` if all slots near its place are taken. */
  #slotOf(bytes: DataView, at: number, length: number, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let look = 0; look < MOST_LOOKS; look++) {
      const slot = (hash + look) & mask;
      const code = this.#slots[slot] as number;
      if (code === 0) return slot;
      if (this.#hashes[code] !== hash) continue;
      const start = this.#ends[code - 1] as number;
      if ((this.#ends[code] as number) - start !== length) continue;
      if (areEqual(bytes, at, this.#words, start, length)) return slot;
    }
    return NO_SLOT;
  }

  /** The code of a value that has that slot; 0 for a new value. */
  #codeAt(slot: number, bytes: DataView, at: number, length: number): number {
    if (slot !== NO_SLOT) return this.#slots[slot] as number;
    return this.#crowded.get(keyOf(Buffer.from(bytes.buffer, bytes.byteOffset + at, length))) ?? 0;
  }

  #insert(slot: number, bytes: DataView, at: number, length: number, hash: number): number {
    const code = ++this.size;
    if (code === this.#ends.length) {
      this.#ends = grown(this.#ends);
      this.#hashes = grown(this.#hashes);
    }
    const start = this.#ends[code - 1] as number;
    const end = start + length;
    if (end + SPARE_BYTES > this.#texts.length) {
      this.#texts = grown(this.#texts, end + SPARE_BYTES);
      this.#words = withSpareBytes(this.#texts.subarray(0, -SPARE_BYTES));
    }
    // By words: bytes beyond the end are spare, or belong to the next value, which is written later.
    for (let i = 0; i < length; i += SPARE_BYTES) {
      this.#words.setInt32(start + i, bytes.getInt32(at + i, true), true);
    }
    this.#ends[code] = end;
    this.#hashes[code] = hash;
    this.#place(code, slot);
    if (2 * code >= this.#slots.length) this.#widen();
    return code;
  }

  #place(code: number, slot: number): void {
    if (slot === NO_SLOT) this.#crowded.set(keyOf(this.bytesOf(code)), code);
    else this.#slots[slot] = code;
  }

  #widen(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    this.#crowded.clear();
    for (let code = 1; code <= this.size; code++) this.#place(code, this.#freeSlot(code));
  }

  #freeSlot(code: number): number {
    const mask = this.#slots.length - 1;
    const hash = this.#hashes[code] as number;
    for (let look = 0; look < MOST_LOOKS; look++) {
      const slot = (hash + look) & mask;
      if (this.#slots[slot] === 0) return slot;
    }
    return NO_SLOT;
  }

  #lowerCase(): void {
    while (!this.#lowerCaseSome());
  }

  /** Lower-cases values that were added since, up to some bytes; returns whether all are done. */
  #lowerCaseSome(): boolean {
    if (this.#lowerEnds.length < this.#ends.length) {
      this.#lowerEnds = grown(this.#lowerEnds, this.#ends.length);
    }
    const most = (this.#ends[this.#lowered] as number) + LOWERED_AT_ONCE;
    while (this.#lowered < this.size) {
      if ((this.#ends[this.#lowered] as number) > most) return false;
      const code = ++this.#lowered;
      const from = this.#ends[code - 1] as number;
      const to = this.#ends[code] as number;
      let at = this.#lowerEnds[code - 1] as number;
      const room = at + Math.ceil((to - from) * LOWER_CASE_GROWTH) + 1;
      if (room > this.#lower.length) this.#lower = grown(this.#lower, room);
      at = writeLowerCase(this.#texts, from, to, this.#lower, at);
      this.#lower[at] = SEPARATOR;
      this.#lowerEnds[code] = at + 1;
    }
    return true;
  }
}

function keyOf(bytes: Buffer): string {
  return bytes.toString("latin1");
}

/** A copy of an array, twice as long and with room for at least `least` entries. */
export function grown<T extends Float64Array | Uint32Array | Uint8Array>(array: T, least = 0): T {
  const length = Math.max(least, array.length * 2);
  const Type = array.constructor as new (length: number) => T;
  const copy = Buffer.isBuffer(array) ? (Buffer.alloc(length) as unknown as T) : new Type(length);
  copy.set(array as never);
  return copy;
}

const LOWER = Uint8Array.from({ length: 128 }, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte + 32 : byte,
);

/** The greatest growth of a text in bytes by lower-casing: `Ⱥ` takes two bytes, `ⱥ` three. */
export const LOWER_CASE_GROWTH = 1.5;

/**
 * Writes the text between two places in lower case, as `toLowerCase()` does.
 *
 * @param target has room for `LOWER_CASE_GROWTH` times the text from `at` on
 * @returns the end of the written text
 */
export function writeLowerCase(
  text: Buffer,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  let end = at;
  for (let i = from; i < to; i++) {
    const byte = text[i] as number;
    // A letter may depend on its neighbours, like a sigma at the end of a word.
    if (byte > 127) return at + target.write(text.toString("utf8", from, to).toLowerCase(), at);
    target[end++] = LOWER[byte] as number;
  }
  return end;
}
