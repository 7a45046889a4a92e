import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FrequentTexts,
  KEPT_CHARACTERS,
  KEPT_TEXTS,
} from "../../../../../src/storage/files/audit/query/frequent-texts.ts";

const SEGMENTS = 40;
const OF_A_SEGMENT = 500;

/** Counts as segments do: each has texts of its own, and a few that all of them have. */
function countSegments(texts: FrequentTexts, length: number): { most: number; characters: number } {
  let [most, characters] = [0, 0];
  for (let segment = 0; segment < SEGMENTS; segment++) {
    for (const common of ["ada", "bob", "eve"]) texts.add(common, 1 + common.charCodeAt(0));
    for (let i = 0; i < OF_A_SEGMENT; i++) texts.add(`${segment}-${i}`.padEnd(length, "x"), 1);
    const kept = [...texts.counts];
    most = Math.max(most, kept.length);
    characters = Math.max(
      characters,
      kept.reduce((sum, [text]) => sum + text.length, 0),
    );
  }
  return { most, characters };
}

test("of very many texts the most frequent ones are kept, with all of their events", () => {
  for (const length of [8, 256]) {
    const texts = new FrequentTexts();
    const { most, characters } = countSegments(texts, length);
    assert.ok(most <= KEPT_TEXTS, `${most} texts`);
    assert.ok(characters <= KEPT_CHARACTERS, `${characters} characters`);
    const counts = new Map(texts.counts);
    for (const common of ["ada", "bob", "eve"]) {
      assert.equal(counts.get(common), SEGMENTS * (1 + common.charCodeAt(0)), common);
    }
  }
});

test("texts with the same key are counted together, under the first one", () => {
  const texts = new FrequentTexts();
  texts.add("Force pushes", 2, "force pushes");
  texts.add("force PUSHES", 3, "force pushes");
  assert.deepEqual([...texts.counts], [["Force pushes", 5]]);
});
