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

/** The text before each token of a tree, which is white space and comments. */
function* triviaOf(node: ts.Node, text: string): Generator<string> {
  const children = node.getChildren().filter((child) => !ts.isJSDoc(child));
  for (const child of children) yield* triviaOf(child, text);
  if (children.length === 0) yield text.slice(node.getFullStart(), node.getStart());
}

/** The banned constructions in the comments of a file, with the words around them. */
function offencesIn(path: string): readonly string[] {
  const source = parseSource(path);
  return [...triviaOf(source, source.text)].flatMap((trivia) => {
    const comment = trivia.replaceAll(/\s+(?:\*\/?|\/\/)?\s*/g, " ");
    return BANNED.flatMap((pattern) => {
      const found = pattern.exec(comment);
      return found
        ? [`${path}: ${comment.slice(Math.max(0, found.index - 40)).slice(0, 100)}`]
        : [];
    });
  });
}

test("comments are written in plain English", () => {
  const files = filesBelow("src");
  assert.ok(files.length > 0);
  assert.deepEqual(files.flatMap(offencesIn), []);
});
