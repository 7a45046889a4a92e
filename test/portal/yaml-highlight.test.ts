import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { highlighter } from "../../src/portal/yaml-highlight.ts";

function linesIn(lines: readonly string[]) {
  const tokensOf = highlighter();
  return lines.map((line) => tokensOf(line));
}

/** The tokens of a line as `kind:text`, without blank ones. */
function kindsOf(text: string): readonly (readonly string[])[] {
  return linesIn(text.split("\n")).map((tokens) =>
    tokens
      .filter((token) => token.text.trim() !== "")
      .map((token) => `${token.kind}:${token.text}`),
  );
}

test("the tokens of any line, joined, are the line", () => {
  const pieces = fc.constantFrom(
    ..."abc019 \t\"'\\:#-?[]{},&*!|>%~.\u00e9🚂<",
    ": ",
    " #",
    "---",
    "true",
  );
  const line = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const joined = linesIn(lines).map((tokens) => tokens.map(({ text }) => text).join(""));
      assert.deepEqual(joined, lines);
    }),
    { numRuns: 500 },
  );
});

for (const { text, expected } of [
  { text: "a: 1", expected: [["key:a", "mark::", "number:1"]] },
  {
    text: "- id: no-destroy # why",
    expected: [["mark:-", "key:id", "mark::", "plain:no-destroy", "comment:# why"]],
  },
  { text: "a b: true", expected: [["key:a b", "mark::", "word:true"]] },
  { text: "url: http://x:80/#top", expected: [["key:url", "mark::", "plain:http://x:80/#top"]] },
  { text: `"k'": 'it''s'`, expected: [[`key:"k'"`, "mark::", "string:'it''s'"]] },
  {
    text: "m: { a: [1, x y], b: null }",
    expected: [
      [
        "key:m",
        "mark::",
        "mark:{",
        "key:a",
        "mark::",
        "mark:[",
        "number:1",
        "mark:,",
        "plain:x y",
        "mark:]",
        "mark:,",
        "key:b",
        "mark::",
        "word:null",
        "mark:}",
      ],
    ],
  },
  {
    text: "a: &x 1\nb: *x\nc: !!str 2",
    expected: [
      ["key:a", "mark::", "mark:&x", "number:1"],
      ["key:b", "mark::", "mark:*x"],
      ["key:c", "mark::", "mark:!!str", "number:2"],
    ],
  },
  {
    text: "- run: |\n    a: 1\n\n    # b\n  c: 2",
    expected: [
      ["mark:-", "key:run", "mark::", "mark:|"],
      ["string:    a: 1"],
      [],
      ["string:    # b"],
      ["key:c", "mark::", "number:2"],
    ],
  },
  {
    text: `a: "x\n  y: z" # w`,
    expected: [
      ["key:a", "mark::", 'string:"x'],
      ['string:  y: z"', "comment:# w"],
    ],
  },
  {
    text: "---\n%YAML 1.2\na: x|y",
    expected: [["mark:---"], ["comment:%YAML 1.2"], ["key:a", "mark::", "plain:x|y"]],
  },
]) {
  test(`${JSON.stringify(text)} is coloured by what it looks like`, () => {
    assert.deepEqual(kindsOf(text), expected);
  });
}

test("a long line takes linear time", () => {
  // Quadratic time would exceed the time limit of the tests.
  const tokens = linesIn([
    "a: " + "x ".repeat(2_000_000),
    "[".repeat(2_000_000),
    `"${"\\".repeat(2_000_000)}`,
    "a".repeat(4_000_000),
  ]);
  assert.equal(tokens.length, 4);
});
