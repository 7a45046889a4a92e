/** The quotes of a long text are read in parts, with the same result. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Quotes } from "../../../src/audit/redaction/quotes.ts";
import { partsOf } from "../../support/parts-of.ts";

const TIMES = 1 << 16;

for (const [what, unit, begins, ends] of [
  ["one part in quotes", "(a)", '"', '"'],
  ["a part without an end", "{", '"', ""],
  ["many parts", `"a" 'b' `, "", ""],
  ["substitutions", `"$(a "b")" `, "", ""],
  ["escaped quotes", String.raw`\"`, "", ""],
  ["signs of comments", "a#", "", ""],
] as const) {
  test(`the quotes of a text with ${what} are read in parts`, () => {
    const text = begins + unit.repeat(TIMES) + ends;
    const quotes = new Quotes(text);
    const parts = partsOf(quotes.read());
    assert.ok(parts >= 30, String(parts));
    const lazy = new Quotes(text);
    for (let place = 0; place < text.length; place += 97) {
      assert.deepEqual(quotes.around(place), lazy.around(place), String(place));
    }
  });
}
