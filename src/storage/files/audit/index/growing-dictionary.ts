/**
 * The dictionary of a segment that grows. Its texts lie one after another in one piece of memory, in
 * the order of their codes, and a table of codes is probed by the hash: a value that was seen before
 * is recognised among the bytes of a line, and no string is made of it. Sealing then copies what is
 * there. Texts in lower case are made when a search first asks for them, or at sealing.
 *
 * The hash is a public one, and texts can be made that have the same, whatever it begins with. Nobody
 * may slow a segment down with them: a value that finds no place near its own goes into a `Map`, which
 * hashes by a secret of the process. By chance that happens to one dictionary in thousands.
 */
import { areEqual, withSpareBytes, SPARE_BYTES } from "./byte-words.ts";
import { hashOf, orderByHash } from "./hash.ts";
import { SEPARATOR, type Dictionary } from "./dictionary.ts";
import { codesHolding } from "../query/text-finder.ts";
import { grown } from "./growth.ts";
import type { LineScanner } from "./line-scanner.ts";
import { LOWER_CASE_GROWTH, writeLowerCase } from "./lower-case.ts";

const FIRST_VALUES = 8;
const FIRST_BYTES = 128;
/** So many slots are looked at; at half full, even a million values lie within about 70 of their place. */
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
  readonly #crowded = new Map<string, number>(); // by the bytes, each as a character
  #lower = Buffer.alloc(0);
  #lowerEnds = new Uint32Array(0);
  #lowered = 0;
  readonly #decoded: (string | undefined)[] = [];

  /** The code of a value, which is added if it is new; 0 for none. */
  add(value: string | undefined): number {
    if (value === undefined) return 0;
    const bytes = Buffer.from(value, "utf8");
    return this.addBytes(withSpareBytes(bytes), 0, bytes.length, hashOf(value));
  }

  /** The same for a value of a line that was scanned. */
  addFrom(line: LineScanner, place: number): number {
    const end = line.ends[place] as number;
    if (end === 0) return 0;
    if (line.escaped[place] === 1) return this.add(line.textOf(place));
    const start = line.starts[place] as number;
    return this.addBytes(line.words, start, end - start, line.hashes[place] as number);
  }

  /** The same for a value in UTF-8 that stands in some bytes, and has that hash. */
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

  /** Where each lower-cased value ends in `lower`, its separator included, by code; 0 for code 0. */
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

  /** Where a value's code stands in the table, or may be put; `NO_SLOT` where it is too crowded. */
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

  /** The code of a value that has that slot; 0 when there is none yet. */
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
    // By words: what is written beyond the end is spare, or where the next value comes to lie.
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

  /** Makes lower-cased texts of the values that came since, up to some bytes; whether that was all. */
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
