import assert from "node:assert/strict";
import test from "node:test";
import { withSpareBytes } from "../../../../../src/storage/files/audit/index/byte-words.ts";
import { PackedDictionary } from "../../../../../src/storage/files/audit/index/dictionary.ts";
import { GrowingDictionary } from "../../../../../src/storage/files/audit/index/growing-dictionary.ts";
import { hashOf, hashWord } from "../../../../../src/storage/files/audit/index/byte-words.ts";

/** The inverse of an odd number: their product is 1 in 32 bits. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}

const [FIRST, SECOND] = [0xcc9e2d51, 0x1b873593];

/** The word that takes the hash from one state to another. */
function wordBetween(from: number, to: number): Buffer {
  const rotated = Math.imul(to - 0xe6546b64, inverseOf(5));
  const mixed = from ^ ((rotated >>> 13) | (rotated << 19));
  const once = Math.imul(mixed, inverseOf(SECOND));
  const word = Buffer.alloc(4);
  word.writeInt32LE(Math.imul((once >>> 15) | (once << 17), inverseOf(FIRST)));
  return word;
}

/** Printable texts of one length and hash: the last word compensates for the text before it. */
function alike(count: number): readonly string[] {
  const texts: string[] = [];
  for (let number = 0; texts.length < count; number++) {
    const begun = `${number}`.padStart(8, "0");
    const state = [0, 4].reduce(
      (hash, at) => hashWord(hash, Buffer.from(begun).readInt32LE(at)),
      0,
    );
    const word = wordBetween(state, 0x600df00d).toString("latin1");
    if (/^[ -~]+$/.test(word)) texts.push(begun + word);
  }
  return texts;
}

/** Words that count their reads: at least one for each comparison with another value. */
function counted(text: string): { readonly words: DataView; readonly reads: () => number } {
  const words = withSpareBytes(Buffer.from(text));
  let reads = 0;
  words.getInt32 = (at, isLittleEndian) => {
    reads++;
    return DataView.prototype.getInt32.call(words, at, isLittleEndian);
  };
  return { words, reads: () => reads };
}

test("texts that were made to have one hash are found, each with a bounded number of comparisons", () => {
  const texts = alike(1_000);
  const hash = hashOf(texts[0] as string);
  assert.ok(texts.every((text) => hashOf(text) === hash));
  const dictionary = new GrowingDictionary();
  let reads = 0;
  for (const round of ["added", "found again"]) {
    for (const [i, text] of texts.entries()) {
      const one = counted(text);
      assert.equal(dictionary.addBytes(one.words, 0, text.length, hash), i + 1, round);
      reads += one.reads();
    }
  }
  // A comparison reads words up to the first that differs, 24 at most; half of 4,096 others would be 24,000.
  assert.ok(reads / (2 * texts.length) < 1_000, `${reads}`);
  assert.deepEqual(
    texts.map((text) => dictionary.codeOf(text)),
    texts.map((_, i) => i + 1),
  );
  assert.equal(dictionary.codeOf(`${texts[0]}${texts[0]}`), undefined);
  const block = dictionary.pack(true);
  const packed = new PackedDictionary(new Uint8Array(block)); // alone in its memory, hence aligned
  for (const i of [0, 1, 127, 128, 129, 999]) {
    assert.equal(packed.codeOf(texts[i] as string), i + 1);
  }
});

test("hashes that were made to be adjacent do not crowd out other values", () => {
  const dictionary = new GrowingDictionary();
  const texts = Array.from({ length: 3_000 }, (_, i) => `text ${i}`);
  const add = (text: string, i: number): number =>
    dictionary.addBytes(
      withSpareBytes(Buffer.from(text)),
      0,
      text.length,
      (2 ** 32 - 5 + (i % 9) * 2 ** 14) >>> 0,
    );
  assert.deepEqual(
    texts.map(add),
    texts.map((_, i) => i + 1),
  );
  assert.deepEqual(
    texts.map(add),
    texts.map((_, i) => i + 1),
  );
  assert.equal(dictionary.add("another"), 3_001);
  assert.equal(dictionary.codeOf("another"), 3_001);
});
