import assert from "node:assert/strict";
import { test } from "node:test";
import { StarPattern } from "../../src/core/star-pattern.ts";

for (const [pattern, matching, others] of [
  ["**", ["", "a", "**"], []],
  ["a***", ["a", "ab"], ["", "ba"]],
  ["***a", ["a", "ba"], ["", "ab"]],
  ["a**a", ["aa", "aba"], ["a", "ab"]],
] as const) {
  test(`${pattern} matches as one star does, and nothing is searched for`, () => {
    const stars = new StarPattern(pattern);
    assert.equal(stars.hasInner, false);
    for (const text of matching) assert.equal(stars.matches(text), true, text);
    for (const text of others) assert.equal(stars.matches(text), false, text);
  });
}

test("text between several stars in a row is searched for", () => {
  const stars = new StarPattern("**b***c**");
  assert.equal(stars.hasInner, true);
  assert.equal(stars.matches("abbcd"), true);
  assert.equal(stars.matches("cb"), false);
});
