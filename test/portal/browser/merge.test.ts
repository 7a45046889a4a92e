import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { finish } from "../../../src/core/scheduling/work.ts";
import { mergeTexts } from "../../../src/portal/browser/merge.ts";

const merge = (base: string, mine: string, theirs: string) =>
  finish(mergeTexts(base, mine, theirs));

test("changes of different lines are joined", () => {
  assert.equal(merge("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n"), "A\nb\nc\nD\n");
  assert.equal(merge("a\nb\nc\nd\n", "a\nb\nc\nd\ne\n", "b\nc\nd\n"), "b\nc\nd\ne\n");
  assert.equal(merge("a\r\nb\r\nc", "a\r\nb\r\nc!", "x\r\na\r\nb\r\nc"), "x\r\na\r\nb\r\nc!");
});

test("changes of the same lines, or of neighbouring ones, are not", () => {
  assert.equal(merge("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n"), undefined);
  assert.equal(merge("a\nb\nc\n", "X\nb\nc\n", "a\nY\nc\n"), undefined);
  assert.equal(merge("a\nb\n", "a\n1\nb\n", "a\n2\nb\n"), undefined);
});

test("a change that both made is made once, and one side's changes are its text", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 8 })
    .map((x) => x.join("\n"));
  fc.assert(
    fc.property(text, text, (base, changed) => {
      assert.equal(merge(base, changed, changed), changed);
      assert.equal(merge(base, base, changed), changed);
      assert.equal(merge(base, changed, base), changed);
    }),
  );
});
