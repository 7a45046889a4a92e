import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { finish } from "../../../src/core/scheduling/work.ts";
import { literalFamilies, Literals } from "../../../src/audit/redaction/literals.ts";
import { ownRules } from "../../../src/audit/redaction/own-rules.ts";
import { Redactor } from "../../../src/audit/redaction/redact.ts";
import type { RedactionRule } from "../../../src/audit/redaction/shapes.ts";

const rulesOf = (literals: readonly string[]): readonly RedactionRule[] =>
  ownRules([{ key: "audit.redact.literals", value: literals.join(",") }]);

/** Compares each literal at each position. */
function naivelyRedacted(text: string, literals: readonly string[]): string {
  let done = "";
  for (let at = 0; at < text.length;) {
    const literal = literals.find((one) => text.startsWith(one, at));
    done += literal === undefined ? text.charAt(at) : "[redacted:literal]";
    at += literal?.length ?? 1;
  }
  return done;
}

test("an organization's literals are replaced as if each were looked for by itself", () => {
  const literal = fc.string({ unit: fc.constantFrom(..."abc"), minLength: 4, maxLength: 8 });
  const cases = fc.array(literal, { minLength: 1, maxLength: 20 }).chain((literals) => {
    const piece = fc.oneof(fc.constantFrom(..."abc"), fc.constantFrom(...literals));
    return fc.tuple(fc.constant(literals), fc.array(piece, { maxLength: 60 }));
  });
  fc.assert(
    fc.property(cases, ([literals, pieces]) => {
      const text = pieces.join("");
      const { text: redacted } = new Redactor(rulesOf(literals)).redact(text);
      assert.equal(redacted, naivelyRedacted(text, literals));
    }),
  );
});

const prefixes = (text: string): readonly string[] =>
  Array.from({ length: 99 }, (_, i) => text.repeat(60).slice(0, 103 - i));
for (const [what, literals, piece] of [
  ["of one letter", prefixes("a").toReversed(), "a"],
  ["that begin alike behind another one", ["abcd", ...prefixes("bcdea")], "abcde"],
] as const) {
  test(`a hundred literals ${what} take a few searches for each that is replaced`, () => {
    const text = piece.repeat(1_000);
    const found = new Literals(text);
    finish(found.find(literalFamilies(rulesOf(literals))));
    let count = 0;
    while (found.next !== Infinity) {
      const [rule] = found.rules();
      found.passTo(found.next + (rule?.literal?.length ?? 1));
      count++;
    }
    assert.ok(count >= 200);
    assert.ok(found.steps <= 3 * count + 2 * literals.length, `${found.steps} for ${count}`);
  });
}
