import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { codesHolding } from "../../../../../src/storage/files/audit/index/text-finder.ts";
import { LongNeedle } from "../../../../../src/core/long-needle.ts";
import { GrowingDictionary } from "../../../../../src/storage/files/audit/index/dictionary.ts";

const PIECE_BYTES = 256 << 10;

/** The results of a search through texts, and the number of its pieces. */
function search(texts: readonly string[], text: string): { found: number[]; pieces: number } {
  const values = Buffer.concat(texts.flatMap((one) => [Buffer.from(one), Buffer.of(0xff)]));
  let end = 0;
  const ends = Uint32Array.from(texts, (one) => (end += Buffer.byteLength(one) + 1));
  const work = codesHolding(values, ends, Buffer.from(text));
  for (let pieces = 0; ; pieces++) {
    const part = work.next();
    if (part.done === true) return { found: [...part.value], pieces };
  }
}

function naive(texts: readonly string[], text: string): number[] {
  return texts.flatMap((one, i) => (one.includes(text) ? [i + 1] : []));
}

const someText = fc
  .array(fc.constantFrom("a", "b", "ab", "\n", "\u0000", "ÿ", "é", "😀", " "), { maxLength: 5 })
  .map((parts) => parts.join(""));
const someNeedle = someText.filter((text) => text !== "");

test("the texts that contain a text are found, for any bytes and any length", () => {
  fc.assert(
    fc.property(fc.array(someText, { maxLength: 30 }), someNeedle, (texts, needle) => {
      assert.deepEqual(search(texts, needle).found, naive(texts, needle));
    }),
    { numRuns: 300 },
  );
});

test("a match across the end of a piece is found, and a match across two texts never", () => {
  const needle = "needle";
  for (let shift = -8; shift <= 8; shift++) {
    const filler = "x".repeat(PIECE_BYTES + shift);
    const texts = [`${filler}${needle}`, "nee", "dle", `${filler}nee`, `dle${filler}`, needle];
    assert.deepEqual(search(texts, needle).found, [1, 6], `${shift}`);
    assert.deepEqual(search([`${filler}y`, "z"], "y").found, [1], `${shift}`);
  }
  const long = Array.from({ length: 60_000 }, (_, i) => i).join(" ");
  assert.ok(long.length > PIECE_BYTES);
  assert.deepEqual(
    search([long.slice(1), long, `${long}z`, `a${long.slice(1)}`], long).found,
    [2, 3],
  );
});

test("a search yields after a number of bytes, and after a number of found texts", () => {
  assert.equal(search(["x".repeat(PIECE_BYTES * 4)], "y").pieces, 4);
  const short = Array.from({ length: 20_000 }, (_, i) => `${i % 10}`);
  assert.ok(search(short, "7").pieces <= 2);
  assert.deepEqual(search(short, "7").found, naive(short, "7"));
  const all = short.map((text) => `${text}.`);
  assert.ok(search(all, ".").pieces >= 4);
  assert.deepEqual(search(all, ".").found, naive(all, "."));
});

test("values are lower-cased in parts, and found when all are done", () => {
  const dictionary = new GrowingDictionary();
  const values = Array.from({ length: 40 }, (_, i) => `${"Ⱥ".repeat(5_000)}${i}\u212a`); // a Kelvin sign
  for (const value of values) dictionary.add(value);
  const work = dictionary.search(Buffer.from("ⱥ7k"));
  let pieces = 0;
  let part = work.next();
  for (; part.done !== true; part = work.next()) pieces++;
  assert.deepEqual(part.value, [8]);
  assert.ok(pieces > 4);
});

test("a long text is found where the native search finds it", () => {
  const some = (least: number, most: number) =>
    fc.array(fc.constantFrom("a", "a", "a", "b"), { minLength: least, maxLength: most });
  fc.assert(
    fc.property(some(0, 200), some(33, 40), fc.nat(20), fc.nat(160), (texts, others, from, at) => {
      const bytes = Buffer.from(texts.join(""));
      const own = bytes.subarray(at, at + 40);
      for (const needle of [Buffer.from(others.join("")), own]) {
        if (needle.length <= 32) continue;
        const found = bytes.indexOf(needle, from);
        assert.equal(new LongNeedle(needle).indexIn(bytes, from), found);
        assert.equal(new LongNeedle(`${needle}`).indexIn(`${bytes}`, from), found);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a long text is looked for in linear time", () => {
  const half = "a".repeat(3_500);
  const start = process.cpuUsage();
  assert.deepEqual(search(["a".repeat(1 << 24)], `${half}b${half}`).found, []);
  const { user, system } = process.cpuUsage(start);
  // Comparing half of it at each position takes 16 seconds.
  assert.ok(user + system < 3_000_000, `${user + system} µs`);
});
