import assert from "node:assert/strict";
import test from "node:test";
import { hashOf, orderByHash } from "../../../../../src/storage/files/audit/index/byte-words.ts";

// The vectors of MurmurHash3 for x86 with 32 bits and seed 0.
for (const [text, hash] of [
  ["", 0],
  ["test", 0xba6bd213],
  ["Hello, world!", 0xc0363e43],
  ["The quick brown fox jumps over the lazy dog", 0x2e4ff723],
] as const) {
  test(`${JSON.stringify(text)} has its published hash`, () => {
    assert.equal(hashOf(text), hash);
  });
}

test("the hash is computed over UTF-8 of any length", () => {
  for (const text of ["ä", "😀", "x".repeat(10_000), "ü".repeat(10_000)]) {
    assert.equal(hashOf(text), hashOf(Buffer.from(text, "utf8").toString("utf8")));
    assert.notEqual(hashOf(text), hashOf(`${text}x`));
  }
});

test("rows are ordered by their hash, equal ones by row", () => {
  const hashes = Uint32Array.of(7, 0xffffffff, 0, 7, 3);
  assert.deepEqual([...orderByHash(hashes)], [2, 4, 0, 3, 1]);
  assert.deepEqual([...orderByHash(new Uint32Array(0))], []);
});
