import assert from "node:assert/strict";
import { test } from "node:test";
import ts from "typescript";
import { filesBelow, parseSource } from "./source-files.ts";

/** Constructions that are hard to read; CONTRIBUTING says what to write instead. */
const BANNED = [
  /\b(?:nobody|somebody|whoever)\b/i,
  /\bthat which\b/i,
  /\bbut for\b/i,
  /\bwhat (?:is|are) (?:no|none)\b/i,
  /(?<!\bthere )\b(?:is|are|was|were) none\b/i,
];

/** Noun clauses in place of nouns, negations in the noun, and other riddles. */
const RIDDLES = [
  /\/\*\* (?:What|Who|Whose|Where) (?!may\b)/,
  /\bwhat (?:becomes|(?:is|was|are) (?:told|known|wanted|asked|kept|shown|given|said|left))\b/i,
  /(?<!\b(?:there|it) )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|less\b)/i,
  /\bso many\b/i,
  /\b(?:hears?|told|tells) of\b/i,
  /\balso (?:where|when|of|by way)\b/i,
  /\bas (?:\w+ ){1,3}(?:has|have) (?:it|them)\b/i,
];

/** The storage's comments still have riddles; this exception goes when they are rewritten. */
const HAS_RIDDLES = /^(?:src|test)\/storage\//;

/** The text before each token of a tree, which is white space and comments. */
function* triviaOf(node: ts.Node, text: string): Generator<string> {
  const children = node.getChildren().filter((child) => !ts.isJSDoc(child));
  for (const child of children) yield* triviaOf(child, text);
  if (children.length === 0) yield text.slice(node.getFullStart(), node.getStart());
}

/** The banned constructions in the comments of a file, with the words around them. */
function offencesIn(path: string): readonly string[] {
  const source = parseSource(path);
  const patterns = HAS_RIDDLES.test(path) ? BANNED : [...BANNED, ...RIDDLES];
  return [...triviaOf(source, source.text)].flatMap((trivia) => {
    const comment = trivia.replaceAll(/\s+(?:\*\/?|\/\/)?\s*/g, " ");
    return patterns.flatMap((pattern) => {
      const found = pattern.exec(comment);
      return found
        ? [`${path}: ${comment.slice(Math.max(0, found.index - 40)).slice(0, 100)}`]
        : [];
    });
  });
}

test("comments are written in plain English", () => {
  const files = [...filesBelow("src"), ...filesBelow("test")];
  assert.ok(files.length > 0);
  assert.deepEqual(files.flatMap(offencesIn), []);
});
