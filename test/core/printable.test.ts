import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "../../src/core/printable.ts";

for (const [text, wanted] of [
  ["plain grün 😀 ~", "plain grün 😀 ~"],
  ["\u001b[2Jx", "\\u001b[2Jx"],
  ["a\nb\tc\u007f", "a\\u000ab\\u0009c\\u007f"],
  ["\u009b31m", "\\u009b31m"],
  ["rm \u202etxt.exe", "rm \\u202etxt.exe"],
  ["tag \u{e0041}", "tag \\udb40\\udc41"],
  ["half \ud800", "half \\ud800"],
] as const) {
  test(`a terminal gets ${JSON.stringify(wanted)}`, () => {
    assert.equal(printable(text), wanted);
  });
}

test("JSON stays JSON of the same value", () => {
  const value = { name: "\u001b\u009b\u202e\u{e0041}\u2028\\" };
  assert.deepEqual(JSON.parse(printable(JSON.stringify(value))), value);
});
