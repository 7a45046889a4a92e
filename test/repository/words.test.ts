import assert from "node:assert/strict";
import { test } from "node:test";
import { filesBelow, readSource } from "./source-files.ts";

/** Constructions that are hard to read; CONTRIBUTING says what to write instead. */
const BANNED = [
  /\b(?:nobody|somebody|whoever)\b/i,
  /\bthat which\b/i,
  /\bbut for\b/i,
  /\bwhat (?:is|are) (?:no|none)\b/i,
  /(?<!\bthere )\b(?:is|are|was|were) none\b/i,
  // Noun clauses in place of nouns, negations in the noun, and other riddles.
  /\/\*\* (?:What|Who|Whose|Where) (?!may\b)/,
  /\bwhat (?:becomes|(?:is|was|are) (?:told|known|wanted|asked|kept|shown|given|said|left))\b/i,
  /(?<!\b(?:there|it) )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|less\b)/i,
  /\bso many\b/i,
  /\b(?:hears?|told|tells) of\b/i,
  /\balso (?:where|when|of|by way)\b/i,
  /\bas (?:\w+ ){1,3}(?:has|have) (?:it|them)\b/i,
];

/** A comment, or some lines of it. Close enough: a text in quotes that looks like one is read too. */
const COMMENT = /\/\*[^]*?\*\/|(?:^[ \t]*\/\/.*\n)+|[ \t]\/\/ .*$/gm;

/** The banned constructions in the comments of a file, with the words around them. */
function offencesIn(path: string): readonly string[] {
  return [...readSource(path).matchAll(COMMENT)].flatMap(([found]) => {
    const comment = found.replaceAll(/\s+(?:\*\/?|\/\/)?\s*/g, " ");
    return BANNED.flatMap((pattern) => {
      const at = pattern.exec(comment)?.index;
      return at === undefined ? [] : [`${path}: ${comment.slice(Math.max(0, at - 40), at + 60)}`];
    });
  });
}

test("comments are written in plain English", () => {
  const files = ["src", "test", "bench"].flatMap((folder) => filesBelow(folder));
  assert.ok(files.length > 0);
  assert.deepEqual(files.flatMap(offencesIn), []);
});
