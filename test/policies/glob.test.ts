import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LONG_NEEDLE } from "../../src/core/long-needle.ts";
import { globOf, matchesGlob as matchWithin } from "../../src/policies/glob.ts";
import { StepBudget } from "../../src/policies/step-budget.ts";

function matchesGlob(pattern: string, text: string): boolean {
  return matchWithin(globOf(pattern), text, new StepBudget(Infinity));
}

/** The same in its plainest form: exponential, so for short patterns only. */
function naive(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  if (pattern[0] === "*") {
    return naive(pattern.slice(1), text) || (text !== "" && naive(pattern, text.slice(1)));
  }
  return text[0] === pattern[0] && naive(pattern.slice(1), text.slice(1));
}

test("a pattern without a star is the text itself", () => {
  assert.ok(matchesGlob("git status", "git status"));
  assert.ok(!matchesGlob("git status", "git status -s"));
  assert.ok(!matchesGlob("Git", "git"));
});

test("a star matches zero or more characters", () => {
  assert.ok(matchesGlob("*", ""));
  assert.ok(matchesGlob("git*", "git"));
  assert.ok(matchesGlob("*--force*", "git push --force origin"));
  assert.ok(matchesGlob("a*b*c", "a\nb/c"));
  assert.ok(!matchesGlob("a*a", "a"));
  assert.ok(!matchesGlob("*ab*ab", "ab"));
});

test("characters of regular expressions match themselves", () => {
  assert.ok(matchesGlob("a.b*", "a.bc"));
  assert.ok(!matchesGlob("a.b*", "aXbc"));
  assert.ok(matchesGlob("[a]?(b)*$", "[a]?(b)$"));
});

test("every pattern matches like the plainest implementation", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, letters, (some, text) => {
      assert.equal(matchesGlob(some, text), naive(some, text));
    }),
    { numRuns: 3_000 },
  );
});

test("long pieces are found like a regular expression finds them", () => {
  const piece = fc.string({
    unit: fc.constantFrom("a", "a", "a", "b"),
    minLength: LONG_NEEDLE - 2,
    maxLength: LONG_NEEDLE + 2,
  });
  const cases = fc.tuple(piece, piece, fc.boolean()).chain(([one, other, isFixed]) =>
    fc.record({
      pattern: fc.constant(isFixed ? `*${one}*${other}` : `*${one}*${other}*`),
      text: fc
        .array(fc.constantFrom(one, other, one.slice(1), other.slice(2), "a", "b"), {
          maxLength: 5,
        })
        .map((parts) => parts.join("")),
    }),
  );
  fc.assert(
    fc.property(cases, ({ pattern, text }) => {
      const expected = new RegExp(`^${pattern.replaceAll("*", "[^]*")}$`).test(text);
      assert.equal(matchesGlob(pattern, text), expected);
    }),
    { numRuns: 500 },
  );
});

test("a match counts as work by the lengths of both texts, and is refused beyond the limit", () => {
  const pattern = globOf(`*${"a".repeat(100)}*b*`);
  const work = new StepBudget(100_000);
  assert.ok(!matchWithin(pattern, "a".repeat(10_000), work));
  assert.ok(work.spent > 10_000);
  assert.throws(() => matchWithin(pattern, "a".repeat(100_000), work), /more than 100,000 steps/);
});

test("hostile patterns take time in proportion to their length", () => {
  const text = "a".repeat(200_000);
  assert.ok(!matchesGlob(`*${"a".repeat(100_000)}b*${"a".repeat(1_000)}*`, text));
  assert.ok(!matchesGlob(`${"*a".repeat(50_000)}*b*`, text));
  assert.ok(matchesGlob(`${"*aa".repeat(50_000)}*`, text));
});
