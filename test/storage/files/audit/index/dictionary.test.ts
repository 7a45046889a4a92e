import assert from "node:assert/strict";
import test from "node:test";
import { Yielder } from "../../../../../src/core/scheduling/yielder.ts";
import { finish } from "../../../../../src/core/scheduling/work.ts";
import {
  GrowingDictionary,
  packDictionary,
  PackedDictionary,
} from "../../../../../src/storage/files/audit/index/dictionary.ts";
import { hashOf } from "../../../../../src/storage/files/audit/index/hash.ts";

/** Texts with the same hash: numbers with a last character that is chosen to make the hashes equal. */
function alike(count: number): readonly string[] {
  const texts: string[] = [];
  for (let number = 0; texts.length < count; number++) {
    let state = 0x811c9dc5;
    for (const letter of `${number}`) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193);
    const last = state ^ 0x600d0000;
    if (last > 0 && last < 0xd800) texts.push(`${number}${String.fromCharCode(last)}`);
  }
  return texts;
}

const SOME = ["", "git", "İstanbul", "ΑΣ", "\u212a", "a\u0000b", "😀 x", "Ⱥ".repeat(300)];

for (const [what, texts] of [
  ["one hash", alike(30)],
  ["any form", SOME],
  ["no number", []],
] as const) {
  test(`texts of ${what} are found by their codes and parts, growing and packed`, async () => {
    const growing = new GrowingDictionary();
    for (const round of ["added", "found again"]) {
      assert.deepEqual(
        texts.map((text) => growing.add(text)),
        texts.map((_, i) => i + 1),
        round,
      );
    }
    const block = finish(packDictionary(growing, true)); // begins at a multiple of four bytes
    for (const dictionary of [growing, new PackedDictionary(new Uint8Array(block))]) {
      assert.equal(dictionary.size, texts.length);
      assert.equal(dictionary.codeOf("another"), undefined);
      for (const [i, text] of texts.entries()) {
        assert.equal(dictionary.codeOf(text), i + 1);
        assert.equal(dictionary.listedValueOf(i + 1), text);
      }
      const hasTwo = (text: string): boolean => text.length > 1;
      assert.deepEqual(
        await dictionary.matching(hasTwo, new Yielder()),
        texts.flatMap((text, i) => (hasTwo(text) ? [i + 1] : [])),
      );
      for (const needle of ["g", "ⱥⱥ", "k", "s", "😀", "0"]) {
        const holding = texts.flatMap((text, i) =>
          text.toLowerCase().includes(needle) ? [i + 1] : [],
        );
        assert.deepEqual([...finish(dictionary.search(Buffer.from(needle)))], holding, needle);
      }
    }
  });
}

test("the texts that were made for one hash have that hash", () => {
  assert.equal(new Set(alike(30).map(hashOf)).size, 1);
});

test("lone surrogates are kept as they are written in UTF-8, growing and packed", () => {
  const growing = new GrowingDictionary();
  const codes = ["\udc00x", "\ufffdx", "\ud800x", "😀"].map((text) => growing.add(text));
  assert.deepEqual(codes, [1, 1, 1, 2]);
  const packed = new PackedDictionary(new Uint8Array(finish(packDictionary(growing, true))));
  for (const dictionary of [growing, packed]) {
    assert.equal(dictionary.size, 2);
    assert.equal(dictionary.listedValueOf(1), "\ufffdx");
    assert.equal(dictionary.codeOf("😀"), 2);
  }
});
