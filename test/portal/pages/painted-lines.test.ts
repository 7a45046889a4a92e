import assert from "node:assert/strict";
import { test } from "node:test";
import { openingLines, paintedLines } from "../../../src/portal/pages/painted-lines.ts";

const textOf = (markup: string): string => markup.replaceAll(/<[^>]*>/g, "");

test("the first lines of a text have their colours, and each its number", () => {
  const { text, numbers } = openingLines("a: 1\n\n# b");
  assert.equal(textOf(String(text)), "a: 1\n\n# b\n");
  assert.match(String(text), /^<span class="y-key">a<\/span>/);
  assert.match(String(text), /<span class="y-comment"># b<\/span>/);
  assert.equal(String(numbers), "1\n2\n3\n");
});

test("of a long text only whole lines are painted, and no more than a window shows", () => {
  const many = textOf(String(openingLines("a: 1\n".repeat(1_000)).text)).split("\n");
  assert.deepEqual([many.length - 1, many[0], many.at(-2)], [60, "a: 1", "a: 1"]);
  const long = "x".repeat(9_000);
  assert.equal(textOf(String(openingLines(`a: 1\n${long}`).text)), "a: 1\n");
  assert.equal(String(openingLines(long).text), "");
});

test("a line with a problem is marked, in the text and in the margin", () => {
  const lines = ["a: 1", "<b>"];
  const problems = new Map([[2, { line: 2, column: 1, message: 'say "no"' }]]);
  const { text, numbers } = paintedLines({ lines, tokens: undefined, problems }, 1, 2);
  assert.equal(String(text), "<u>&lt;b&gt;</u> <i>say &quot;no&quot;</i>\n");
  assert.equal(String(numbers), '<b data-line="2" title="say &quot;no&quot;">2</b>\n');
});
