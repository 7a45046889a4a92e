/* oxlint-disable no-template-curly-in-string -- expansions of the shell */
/** Compares the splitting with an independent grammar of Bash, and counts its work on hostile texts. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { before, test } from "node:test";
import fc from "fast-check";
import type * as TreeSitter from "@vscode/tree-sitter-wasm";
import type { Form } from "../../../src/policies/shell/command-form.ts";
import { splitCommand } from "../../../src/policies/shell/command-parts.ts";
import { type SimpleCommand, Unsplittable } from "../../../src/policies/shell/command.ts";
import { ShellDoubts } from "../../../src/policies/shell/doubts.ts";
import { scanShell } from "../../../src/policies/shell/scanner.ts";
import { StepBudget, TooMuchWork } from "../../../src/policies/step-budget.ts";
import { EVASIONS, HARMLESS } from "./command-lines.ts";

const require = createRequire(import.meta.url);
// A CommonJS module whose exports Node cannot name.
const { Language, Parser } = require("@vscode/tree-sitter-wasm") as typeof TreeSitter;

const KEYWORD = /(?:^| )(?:then|else|fi|do|done|esac|\})(?: |$)/;

let bash: TreeSitter.Parser;
before(async () => {
  await Parser.init();
  bash = new Parser();
  const grammar = require.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm");
  bash.setLanguage(await Language.load(grammar));
});

/** The commands that the grammar finds, as they are written; `undefined` for a text with errors. */
function commandsByGrammar(text: string): readonly string[] | undefined {
  const tree = bash.parse(text);
  if (!tree || tree.rootNode.hasError) return undefined;
  const commands = tree.rootNode.descendantsOfType("command").map((command) => {
    const name = command?.childForFieldName("name");
    const words: readonly (TreeSitter.Node | null)[] =
      command?.childrenForFieldName("argument") ?? [];
    return [name, ...words].map((word) => word?.text ?? "").join(" ");
  });
  tree.delete();
  // A keyword among the arguments is a mistake of the grammar.
  return commands.some((one) => KEYWORD.test(one)) ? undefined : commands.sort();
}

function commandsByUs(text: string): readonly string[] | undefined {
  const found: SimpleCommand[] = [];
  try {
    scanShell(text, (command) => void found.push(command), new ShellDoubts());
  } catch (error) {
    if (error instanceof Unsplittable) return undefined;
    throw error;
  }
  const certain = found.filter(({ isDoubtful, words }) => !isDoubtful && words.length > 0);
  return certain.map(({ words }) => words.map(({ raw }) => raw).join(" ")).sort();
}

/** Lines that the grammar reads otherwise than the shells do. */
const READ_OTHERWISE =
  /^time|2>.* push|coproc|\[\[|test |<<<|\btrap|^\{git|> |&>|>&|for \(\(|\(\(|@\(|\\`|^! grep/;

for (const line of [...EVASIONS, ...HARMLESS]) {
  if (READ_OTHERWISE.test(line)) continue;
  test(`the grammar finds the same commands in ${JSON.stringify(line)}`, () => {
    const expected = commandsByGrammar(line);
    if (expected) assert.deepEqual(commandsByUs(line), expected);
  });
}

const word = fc.constantFrom(
  ...["ls", "git", "push", "-n", "a.txt", "'a; b'", '"a && b"', "x\\;y", "$x", '"$x y"', "${x:-z}"],
);
const program = fc.constantFrom("ls", "git", "make", "'git'", "/bin/cat", "g\\it");

const { script } = fc.letrec<{ script: string; command: string; argument: string }>((tie) => {
  const lines = fc
    .tuple(
      tie("command"),
      fc.array(fc.tuple(fc.constantFrom("; ", " && ", " || ", " | ", " & "), tie("command")), {
        maxLength: 2,
      }),
    )
    .map(([first, more]) => first + more.flat().join(""));
  const argument = fc.oneof(
    { maxDepth: 3, depthIdentifier: "shell" },
    { weight: 4, arbitrary: word },
    // With the space two parentheses never meet, which would be arithmetic.
    tie("script").map((inner) => `$( ${inner})`),
    tie("script").map((inner) => `"a $( ${inner}) b"`),
    tie("script").map((inner) => `<(${inner})`),
  );
  const simple = fc
    .tuple(
      fc.constantFrom("", "", "A=1 ", "A='b c' B=$x "),
      program,
      fc.array(tie("argument"), { maxLength: 3 }),
    )
    .map(([assigned, name, rest]) => assigned + [name, ...rest].join(" "));
  const command = fc.oneof(
    { maxDepth: 3, depthIdentifier: "shell" },
    { weight: 3, arbitrary: simple },
    tie("script").map((inner) => `( ${inner})`),
    tie("script").map((inner) => `{ ${inner}; }`),
    fc.tuple(tie("script"), tie("script")).map(([a, b]) => `if ${a}; then ${b}; else ls; fi`),
    fc.tuple(tie("script"), tie("script")).map(([a, b]) => `while ${a}; do ${b}; done`),
    tie("script").map((inner) => `for i in a "b c"; do ${inner}; done`),
    tie("script").map((inner) => `case $x in a|b) ${inner};; *) ls;; esac`),
    tie("script").map((inner) => `f() { ${inner}; }`),
  );
  return { script: lines, command, argument };
});

test("every program is split into the commands that the grammar finds", () => {
  let compared = 0;
  fc.assert(
    fc.property(script as fc.Arbitrary<string>, (text) => {
      const expected = commandsByGrammar(text);
      if (!expected) return; // the grammar has gaps of its own
      compared++;
      assert.deepEqual(commandsByUs(text), expected);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(compared > 500, `only ${compared} texts compared`);
});

test("splitting any text never throws", () => {
  const piece = fc.constantFrom(
    ..." \n;&|()<>{}'\"`$\\#=!".split(""),
    ...["$(", "${", "<<", "<<-E", "EOF", "((", "))", "[[", "]]", "$'", "if ", "fi", "do ", "case "],
    ...["in ", "esac", ";;", "a", "git", "x=", "\\\n", "&>", "2>"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      workOn(pieces.join(""));
    }),
    { numRuns: 5_000 },
  );
});

/** Texts that would cost a careless reader the square of their length, or its stack. */
const HOSTILE: readonly ((length: number) => string)[] = [
  ..."; & | ( ) < > { } ' \" ` $ \\ # = ! \n a"
    .split(" ")
    .map((char) => (n: number) => char.repeat(n)),
  ...[
    "$(",
    "${",
    "((",
    "$((",
    "`$(",
    "<(",
    "[[ ",
    "a=(",
    "$'",
    '"$(',
    '"${x:-',
    "<<E\n",
    "<<-\t",
  ].map((piece) => (n: number) => piece.repeat(n / piece.length)),
  ...["a;", "eval ", "env ", "sudo ", "sh -c ", "xargs ", "if a;then ", "case a in ", "f() { "].map(
    (piece) => (n: number) => piece.repeat(n / piece.length),
  ),
  ...["((a) ", "(( ) ", "((a);", "{a,", "a=", "x[", "/a/", "1", "find -exec a ; "].map(
    (piece) => (n: number) => piece.repeat(n / piece.length),
  ),
  (n) => `eval ${"'".repeat(n)}`,
  (n) => `sudo ${"-a ".repeat(n / 3)}`,
  (n) => `find ${"-exec ".repeat(n / 6)}`,
  (n) => `cat ${"<<E ".repeat(n / 8)}\n${"E\n".repeat(n / 4)}`,
];

/** The steps of splitting, and the characters of everything that is made of a text. */
function workOn(text: string): number {
  const work = new StepBudget(Infinity);
  let made = 0;
  const count = (form: Form): void => {
    let words = 0;
    while (form.wordAt(words) !== undefined) words++;
    made += form.text.length + words;
  };
  splitCommand(text, { suspected: count, required: (forms) => forms.forEach(count) }, work);
  return work.spent + made;
}

for (const make of HOSTILE) {
  const sample = make(20);
  test(`work grows with the length of ${JSON.stringify(sample)}`, () => {
    const [short, long] = [workOn(make(10_000)), workOn(make(80_000))];
    assert.ok(long <= 9 * short, `${short} steps for 10,000 characters, ${long} for 80,000`);
    assert.ok(long <= 80_000 * 400, `${long} steps for 80,000 characters`);
  });
}

for (const [what, text] of [
  ["braces", `test ${"{".repeat(200_000)}`],
  ["braces in wrappers", `git status; ${"eval ".repeat(8)}${"{".repeat(20_000)}`],
  ["ranges", `test ${"{.".repeat(150_000)}`],
  ["commas in braces", `{${",".repeat(150_000)}{`],
  ["here-documents", "a<<E;".repeat(60_000)],
  ["commands before a here-document", `cat ${"<<E ".repeat(30_000)}${";a".repeat(100_000)}`],
] as const) {
  test(`a long text of ${what} is split in linear time`, () => {
    const start = process.cpuUsage();
    const none = (): void => undefined;
    const work = new StepBudget(50_000_000);
    try {
      splitCommand(text, { suspected: none, required: none }, work);
    } catch (error) {
      assert.ok(error instanceof TooMuchWork);
    }
    const { user, system } = process.cpuUsage(start);
    // A reader that takes the square of the length takes half a minute; busy machines take some times longer than 0.5 s.
    assert.ok((user + system) / 1_000 < 5_000);
  });
}
