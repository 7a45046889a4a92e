/**
 * The values of a Kubernetes `Secret` in a text. Redaction must hide no command, and a text that only looks like a
 * manifest may be a script. In a here-document no line runs, so every line below `stringData:` is covered there. Anywhere
 * else a line is covered if a shell would read it as the arguments of a program `name:`, or as one word.
 */
import type { RedactionRule } from "./shapes.ts";

const LINE_END = String.raw`\r?\n`;
/** Before the end of a line, of quotes around the manifest, or of the text. */
const ENDS = String.raw`(?=\r?\n|["'\\]{0,8}[ \t]{0,4}(?:[|)]|$))`;
const KEY = String.raw`["']?[\w.-]{1,253}["']?:[ \t]{1,4}`;
const VARIABLE = String.raw`["'\\]{0,4}\$(?:\w{1,80}|\{{1,2}[ \w.]{1,80}\}{1,2})["'\\]{0,4}[ \t]{0,4}(?=\r?\n|,|\}|$)`;
/** A character of a value that neither runs a command nor is one of some others. */
const characters = (others: string): string =>
  String.raw`(?:[^\r\n$\x60${others}]|\r(?!\n)|\$(?![({]))`;
const SPECIAL = ";|&<>()";
/** Lines without a value that may stand between others. */
const between = (comment: string): string =>
  String.raw`(?:${LINE_END}(?:[ \t]{0,40}(?=\r?\n)|${comment}#${characters(SPECIAL)}{0,400}(?=\r?\n)|\k<indent>[ \t]{1,16}${KEY}${VARIABLE}(?=\r?\n))){0,40}`;
/** A mapping in braces, on one line. */
const inBraces = (special: string): string => {
  const inQuotes = (quote: string) => `${quote}${characters(`${special}${quote}`)}{0,1024}${quote}`;
  const bare = characters(String.raw`${special}"'{}`);
  return String.raw`\{[ \t]{0,4}${KEY}(?!${VARIABLE})(?:${inQuotes('"')}|${inQuotes("'")}|${bare}){1,1024}\}`;
};
/** The rest of the line of the key, and the secret below it or in braces. */
const values = (line: string, comment: string, special: string): string =>
  String.raw`(?:[ \t]{1,4}(?=\{ ?[\w"'])|[ \t]{0,4}(?:\{[ \t]{0,4})?(?:#[^\r\n]{0,200})?(?=\r?\n))(?<secret>(?:${between(comment)}${line}){1,100}|${inBraces(special)})`;

/** The beginning of what may follow the key. It is tested first because that is fast. */
const FOLLOWS = String.raw`(?=[ \t]{0,4}(?:[{#]|\r?\n[ \t\r\n#]))`;
const KIND = String.raw`[ \t]{0,20}(?:- )?kind:[ \t]{1,2}["']?Secret(?![\w-])`;
/** The beginning of a here-document: in quotes or a comment, `<<` begins none. */
const HERE = String.raw`<<-?[ \t]{0,2}(?:\w{1,40}|"\w{1,40}"|'\w{1,40}')[^\n"'#\\\x60(]{0,200}\n`;
const OUTSIDE = String.raw`(?:[^"'#\\\x60(]|"[^"\n\\\x60$]{0,200}"|'[^'\n]{0,200}'){0,1000}`;
/**
 * Below `stringData:` in a here-document. The lines of its manifest are read in one way only. The last line of a
 * here-document does not match: it has no colon, and no space before it.
 */
const below = (before: string, not: string): string => {
  const line = String.raw`\t{0,8}(?: [^\n${not}]{0,400}|[\w./"'][\w./"'-]{0,100}:[^\n${not}]{0,400}|(?:- |---)[^\n${not}]{0,400}|#[^\n${not}]{0,400}|\r?)\n`;
  return String.raw`(?<=^${before}${HERE}(?:${line}){0,60}${KIND}[^\n${not}]{0,200}\n(?:(?!---|${KIND})${line}){0,60}(?<indent>[ \t]{0,16})(?:stringData|data):)`;
};
const lineInHere = (not: string): string =>
  String.raw`${LINE_END}\k<indent> {1,40}(?=\S)(?!${KEY}${VARIABLE})${characters(not)}{1,4096}?(?=\r?\n|$${not && `|[${not}]`})`;
const inHere = (before: string, not: string): RegExp =>
  new RegExp(
    `data:${FOLLOWS}${below(before, not)}${values(lineInHere(not), String.raw`(?!\k<indent> )[ \t]{0,16}`, not)}`,
    "iy",
  );

const ANYWHERE = String.raw`(?<=(?<=\bkind:\s{1,2}["']?Secret\b(?:(?!\n---)[^]){0,1000}\n)(?<indent>[ \t]{0,16})(?:stringData|data):)`;
const VALUE = String.raw`(?![\\"']{0,8}\$|\s)${characters(SPECIAL)}{1,4096}?${ENDS}`;
const WORD = String.raw`${LINE_END}\k<indent>[ \t]{2,40}(?=[^\s#])[^\s$\x60${SPECIAL}]{1,4096}?[ \t]{0,4}${ENDS}`;
/** The beginning of a value of several lines. */
const BLOCK = String.raw`[|>][-+\d]{0,2}[ \t]{0,4}`;
const LINE_ANYWHERE = String.raw`${LINE_END}\k<indent>[ \t]{1,40}${KEY}(?:${VALUE}|${BLOCK}(?:(?:${LINE_END}[ \t]{0,40}(?=\r?\n)){0,8}${WORD}){1,60}|${BLOCK}(?=${LINE_END}\k<indent>[ \t]{2,40}${KEY}))`;

export const MANIFEST_RULES: readonly RedactionRule[] = [
  {
    id: "kubernetes-secret",
    keywords: ["data:"],
    pattern: inHere(OUTSIDE, ""),
    matches: [
      "kubectl apply -f - <<EOF\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  url: hunter2\n  b: x\nEOF",
      "kubectl apply -f - <<EOF\nkind: Secret\nstringData:\n  a: |\n    my hunter2; b\nEOF",
      "kubectl apply -f - <<EOF\nkind: Secret\nstringData: {a: 'b;c'}\nEOF",
    ],
    ignores: [
      "cat <<EOF\nkind: ConfigMap\ndata:\n  stage: prod\nEOF",
      "cat <<EOF\nkind: Secret\nstringData:\n  url: $URL\nEOF",
      "cat <<EOF\nkind: Secret\nstringData: {a: $V}\nEOF",
      "cat <<EOF\nkind: Secret\nstringData:\n  url: $(rm -r x)\nEOF",
      "cat <<EOF\nkind: Secret\nEOF\nstringData:\n  a: |\n    rm -r x",
      "cat <<EOF\nkind: Secret\n---\nkind: ConfigMap\ndata:\n  stage: prod\nEOF",
    ],
  },
  {
    // The here-document is in a script in quotes, which ends at the next one.
    id: "kubernetes-secret",
    keywords: ["data:"],
    pattern: inHere(String.raw`${OUTSIDE}["'][^"'#\\\x60(]{0,400}`, `"'`),
    matches: ["sh -c 'kubectl apply -f - <<EOF\nkind: Secret\ndata:\n  a: |\n    b hunter2\nEOF'"],
    ignores: ["sh -c 'cat <<EOF\nkind: ConfigMap\ndata:\n  a: |\n    b c\nEOF'"],
  },
  {
    id: "kubernetes-secret",
    keywords: ["data:"],
    pattern: new RegExp(
      `data:${FOLLOWS}${ANYWHERE}${values(LINE_ANYWHERE, String.raw`[ \t]{0,40}`, SPECIAL)}`,
      "iy",
    ),
    matches: [
      "printf 'kind: Secret\ndata:\n  dsn: aHVudGVyMg==' | kubectl apply -f -",
      "kind: Secret\r\nstringData: # b\r\n\r\n  # c\r\n  a: hunter2\r\n",
      "kind: Secret\nstringData:\n  a: |\n    hunter2\n  b: x",
      "kind: Secret\nstringData: {a: hunter2}",
    ],
    ignores: [
      "kind: ConfigMap\ndata:\n  stage: prod",
      "kind: Secret\nstringData:\n  url: $URL",
      "kind: Secret\nstringData:\n  url: $(rm -r x)",
      "kind: Secret\nstringData:\n  url: x; rm -r x",
      "kind: Secret\nstringData:\n  url: |\n    rm -r x",
      "kind: Secret\nstringData: {}",
      "kind: Secret\nstringData: {a: $(rm -r x)}",
      "kind: Secret\nmetadata:\n  name: a\n---\nkind: ConfigMap\ndata:\n  stage: prod",
    ],
  },
];
