import type { ProgramRule } from "./programs.ts";

/** Short options that are joined, as in `-su`. */
const JOINED = String.raw`(?<![\w-])-[A-Za-z]{2,8}(?![\w-])`;
/** Quotes or a backslash in a word, which the shell removes: `-"p"` is `-p`. */
const INSIDE_WORD = String.raw`[\w-][$"'\\]+\w`;

/** Makes a test whether the text from a position on may have an option of a program with a secret, or an assignment. */
export function optionHint({ options, hasAssignments, after }: ProgramRule) {
  const names = Object.keys(options).map((name) => name.replaceAll(".", "\\."));
  const mayJoin = Object.entries(options).some(
    ([name, takes]) => takes === ":" || (takes === "word" && name.length === 2),
  );
  const found = [
    ...names.map((name) => (name.startsWith("-") ? `(?<![\\w-])${name}` : name)), // not `-p` in `web-prod`
    ...(mayJoin ? [JOINED, INSIDE_WORD] : []),
    ...(hasAssignments ? ["="] : []),
  ];
  const option = new RegExp(found.join("|"), "g");
  const word = after === undefined ? undefined : new RegExp(`${after}|${INSIDE_WORD}`, "g");
  return (text: string, place: number): boolean =>
    isIn(text, option, place) && (!word || isIn(text, word, place));
}

function isIn(text: string, pattern: RegExp, place: number): boolean {
  pattern.lastIndex = place;
  return pattern.test(text);
}
