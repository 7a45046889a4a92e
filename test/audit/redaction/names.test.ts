import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lettersOf, NameEndings } from "../../../src/audit/redaction/names.ts";
import { ownRules } from "../../../src/audit/redaction/own-rules.ts";
import { Redactor } from "../../../src/audit/redaction/redact.ts";
import { REDACTION_RULES } from "../../../src/audit/redaction/rules.ts";
import type { RedactionRule } from "../../../src/audit/redaction/shapes.ts";
import { partsOf } from "../../support/parts-of.ts";

const rulesOf = (names: readonly string[]): readonly RedactionRule[] =>
  ownRules([{ key: "audit.redact.names", value: names.join(",") }]);

/** The same rules as if each name were a keyword of its own, which is compared wherever it may begin. */
function naiveRulesOf(names: readonly string[]): readonly RedactionRule[] {
  return rulesOf(names).flatMap(({ isEnding, keywords, pattern, ...rule }) =>
    keywords.map((name) => {
      const ending = `(?=${name.replaceAll(".", String.raw`\.`)}(?![\\w.-]))`;
      return { ...rule, keywords: [name], pattern: new RegExp(ending + pattern.source, "iy") };
    }),
  );
}

const name = fc
  .tuple(
    fc.oneof(
      fc.string({ unit: fc.constantFrom(..."ab1.-_A"), minLength: 2, maxLength: 5 }),
      fc.string({ unit: fc.constantFrom(..."ab"), minLength: 59, maxLength: 63 }),
    ),
    fc.constantFrom(..."ab1_"),
  )
  .map((parts) => parts.join(""));
const names = fc.array(name, { minLength: 1, maxLength: 12 });
const PIECES = [
  ..."abAB1.-_=:!\"'[]{};, \n\u212a",
  ...["=x9", "+=", " = ", "=>", "--", "env '", "export ", "${", ":-", "setx ", "'x y'"],
  ...["mysql -p", "curl -u a:b ", "token", "://a:", "[redacted:"],
];

test("an organization's names are found as if each were looked for by itself", () => {
  const texts = (own: readonly string[]) =>
    fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...own)), { maxLength: 40 });
  const cases = names.chain((own) => fc.tuple(fc.constant(own), texts(own), fc.boolean()));
  fc.assert(
    fc.property(cases, ([own, pieces, hasCommon]) => {
      const text = pieces.join("");
      const common = hasCommon ? REDACTION_RULES : [];
      const expected = new Redactor([...naiveRulesOf(own), ...common]).redact(text);
      assert.deepEqual(new Redactor([...rulesOf(own), ...common]).redact(text), expected);
    }),
  );
});

test("a word ends with a name wherever the rest of the word is one", () => {
  const texts = fc.string({ unit: fc.constantFrom(..."abAB1.-_= "), maxLength: 200 });
  fc.assert(
    fc.property(names, texts, (own, text) => {
      const shortest = rulesOf(own)[0]?.keywords ?? [];
      const endings = new NameEndings(lettersOf(shortest), text);
      const places = Array.from({ length: text.length + 1 }, (_, place) => place);
      const rest = (place: number) => /^[\w.-]*/.exec(text.slice(place))?.[0].toLowerCase() ?? "";
      assert.deepEqual(
        places.filter((place) => endings.hasAt(place)),
        places.filter((place) => shortest.includes(rest(place))),
      );
      assert.ok(endings.steps <= 2 * text.length + 1);
    }),
  );
});

const A = "a".repeat(61);
for (const [part, nameOf, piece] of [
  ["beginning", (digits: string) => A + digits, "a"],
  ["beginning", (digits: string) => A + digits, `${A}000.`],
  ["beginning", (digits: string) => A + digits, "!"], // has the low bits of an `a`
  ["beginning and end", (digits: string) => `${A.slice(30)}${digits}${A.slice(31)}`, `${A}aaa=`],
  ["end", (digits: string) => digits + A, `0${A}=`],
] as const) {
  test(`a hundred names with the same ${part} take the steps of one: ${piece.slice(-4)}`, () => {
    const text = piece.repeat(Math.ceil((1 << 15) / piece.length));
    const work = (count: number): readonly number[] => {
      const own = Array.from({ length: count }, (_, i) => nameOf(String(i).padStart(3, "0")));
      const redactor = new Redactor([...rulesOf(own), ...REDACTION_RULES]);
      redactor.mayApply(text);
      return [redactor.steps, partsOf(redactor.redactInParts(text))];
    };
    assert.deepEqual(work(100), work(1));
  });
}
