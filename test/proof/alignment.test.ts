import assert from "node:assert/strict";
import { test } from "node:test";
import { align, type Difference } from "../../src/proof/alignment.ts";
import { leafHash } from "../../src/proof/merkle.ts";

const hashesOf = (letters: string): Buffer =>
  Buffer.concat([...letters].map((one) => leafHash(one)));
const describe = (one: Difference): string => {
  if (one.what === "changed") return `line ${one.line} changed, was event ${one.event}`;
  if (one.what === "moved") return `line ${one.line} is event ${one.event}`;
  if (one.what === "missing")
    return `before line ${one.line} ${one.count} missing from ${one.event}`;
  return `line ${one.line} added${one.repeats === undefined ? "" : `, repeats ${one.repeats}`}`;
};

for (const [what, lines, expected, end] of [
  ["the same lines", "abcdef", [], 6],
  ["more lines", "abcdefxyz", [], 6],
  ["a changed line", "abXdef", ["line 2 changed, was event 2"], 6],
  ["the first line changed", "Xbcdef", ["line 0 changed, was event 0"], 6],
  ["the last line changed", "abcdeX", ["line 5 changed, was event 5"], 6],
  [
    "two changed lines",
    "abXYef",
    ["line 2 changed, was event 2", "line 3 changed, was event 3"],
    6,
  ],
  ["a line added", "abXcdef", ["line 2 added"], 7],
  ["two lines added in front", "XYabcdef", ["line 0 added", "line 1 added"], 8],
  ["a line repeated", "abbcdef", ["line 2 added, repeats 1"], 7],
  ["a line repeated at the end", "abcdefbx", ["line 6 added, repeats 1"], 7],
  ["a line removed", "abdef", ["before line 2 1 missing from 2"], 5],
  ["lines removed", "abf", ["before line 2 3 missing from 2"], 3],
  ["the first line removed", "bcdef", ["before line 0 1 missing from 0"], 5],
  ["the last lines removed", "abcd", ["before line 4 2 missing from 4"], 4],
  ["all lines removed", "", ["before line 0 6 missing from 0"], 0],
  ["neighbours swapped", "abdcef", ["line 2 is event 3"], 6],
  ["the last two swapped", "abcdfe", ["line 4 is event 5"], 6],
  ["distant lines swapped", "fbcdea", ["line 0 is event 5", "line 5 is event 0"], 6],
  ["a line moved to the end", "bcdefa", ["line 5 is event 0"], 6],
  ["a line moved to the front", "fabcde", ["line 0 is event 5"], 6],
  [
    "a removed and a changed line",
    "acdXf",
    ["before line 1 1 missing from 1", "line 3 changed, was event 4"],
    5,
  ],
] as const) {
  test(`${what}: each is told once, with its place`, () => {
    const { differences, end: found } = align(hashesOf("abcdef"), hashesOf(lines));
    assert.deepEqual([differences.map(describe), found], [expected, end]);
  });
}

test("a log of which everything was replaced has twenty findings, and no end", () => {
  const recorded = Buffer.concat(Array.from({ length: 50 }, (_, i) => leafHash(`a${i}`)));
  const lines = Buffer.concat(Array.from({ length: 50 }, (_, i) => leafHash(`b${i}`)));
  const { differences, end } = align(recorded, lines);
  assert.deepEqual([differences.length, end], [20, undefined]);
});
