import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Lexer, stringify } from "yaml";
import { MAX_DOCUMENT_BYTES, MAX_TOKENS, parseDocument } from "../../src/policies/document.ts";
import { Problems } from "../../src/policies/problems.ts";
import { StepBudget } from "../../src/policies/step-budget.ts";
import { anyText } from "../support/any-text.ts";

function parse(yaml: string) {
  const problems = new Problems(yaml);
  return { ...parseDocument(yaml, problems, new StepBudget(Infinity)), problems };
}

function problemsOf(yaml: string) {
  return parse(yaml).problems.list();
}

test("the targets of aliases count as work", () => {
  const spent = (yaml: string) => {
    const work = new StepBudget(Infinity);
    assert.ok(parseDocument(yaml, new Problems(yaml), work).root);
    return work.spent;
  };
  assert.equal(spent("a: [1, 2, 3]"), 0);
  assert.ok(spent(`a: &a ${"x".repeat(10_000)}\nb: [${"*a,".repeat(50)}]`) > 500_000);
  assert.ok(spent(`a: &a [${"1,".repeat(100)}]\nb: [${"*a,".repeat(50)}]`) > 1_000_000);
});

function repeat(text: string, length: number): string {
  return text.repeat(Math.floor(length / text.length));
}

const valid: Readonly<Record<string, string>> = {
  "one key": "a: 1",
  "flow style": "{a: [1, {b: 2}]}",
  "a directive for YAML 1.2": "%YAML 1.2\n---\na: 1",
  "an explicit end": "---\na: 1\n...\n",
  "a byte order mark": "\uFEFFa: 1",
  "CR LF line ends": "a: 1\r\nb: 2\r\n",
  "comments around it": "# before\na: 1 # beside\n# after\n",
  "anchors and aliases": "a: &x {b: 1}\nc: *x\nd: [*x, *x]",
  "an anchor that is set anew": "a: &x 1\nb: *x\nc: &x 2\nd: *x",
  "a merge key, which is a key like any other": "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2",
  "tags of the core schema": "a: !!str 1\nb: !!int 1\nc: !!map {}\nd: !!seq []\ne: ! x",
  "keys that differ in type only": '1: a\n"1": b\ntrue: c\n"true": d\nnull: e\n"": f',
  "integers too large to be told apart as numbers": "9007199254740993: a\n9007199254740992: b",
  "the same key in two mappings": "a: {x: 1}\nb: {x: 1}",
  "collections as keys": "? [a, b]\n: 1\n? [b, a]\n: 2\n? {a: b}\n: 3",
  "keys of an object's prototype": "__proto__: 1\nconstructor: 2\ntoString: 3",
  "a hundred levels": `a: ${"[".repeat(99)}${"]".repeat(99)}`,
};

for (const [name, yaml] of Object.entries(valid)) {
  test(`valid: ${name}`, () => {
    assert.deepEqual(problemsOf(yaml), []);
    assert.ok(parse(yaml).root);
  });
}

const invalid: Readonly<Record<string, readonly [string, number, number, RegExp]>> = {
  "an empty text": ["", 1, 1, /empty: expected a mapping/],
  "comments only": ["# a\n# b\n", 1, 1, /empty: expected a mapping/],
  "white space only": [" \n\n ", 1, 1, /empty: expected a mapping/],
  "a directive only": ["%YAML 1.2\n", 1, 1, /./],
  "an empty document": ["---\n", 1, 4, /root .* mapping/],
  "a scalar": ["hello", 1, 1, /root .* mapping/],
  "a list": ["- a", 1, 1, /root .* mapping/],
  "an empty mapping": ["{}", 1, 1, /at least one key/],
  "two documents": ["a: 1\n---\nb: 2", 2, 1, /Expected one document/],
  "two documents, the second one empty": ["a: 1\n---\n", 2, 1, /Expected one document/],
  "a syntax error": ["a: [1, 2\nb: 3", 2, 1, /./],
  "a mapping within a line's mapping": ["a: b: c", 1, 4, /Nested mappings/],
  "a tab as indentation": ["a:\n\tb: 1", 2, 1, /Tabs/],
  "a duplicate key": ["a: 1\nb: 2\na: 3", 3, 1, /Duplicate key "a"/],
  "a duplicate key in quotes": ["a: 1\n'a': 3", 2, 1, /Duplicate key "a"/],
  "a duplicate key in a flow mapping": ['x: {a: 1, "a": 2}', 1, 11, /Duplicate key "a"/],
  "a duplicate key in another notation": ["16: a\n0x10: b", 2, 1, /Duplicate key "0x10"/],
  "a duplicate key through an alias": ["a: &x b\nc: {*x : 1, b: 2}", 2, 13, /Duplicate key "b"/],
  "a duplicate list as key": ["? [1, 2]\n: a\n? - 1\n  - 2\n: b", 3, 3, /Duplicate key/],
  "a duplicate mapping as key": ["? {a: 1, b: 2}\n: x\n? {b: 2, a: 1}\n: y", 3, 3, /Duplicate key/],
  "a key without value twice": ["{a, a}", 1, 5, /Duplicate key "a"/],
  "an alias without anchor": ["a: *x", 1, 4, /alias "\*x" has no anchor before it/],
  "an alias before its anchor": ["a: *x\nb: &x 1", 1, 4, /no anchor before it/],
  "an alias within its own anchor": ["a: &x [1, *x]", 1, 11, /inside its own anchor/],
  "an alias with a tag": ["a: &x 1\nb: !!str *x", 2, 10, /neither anchor nor tag/],
  "an unknown tag": ["a: !foo 1", 1, 4, /tag "!foo" is unknown/],
  "a function": ["a: !!js/function 'x'", 1, 4, /tag "!!js\/function" is unknown/],
  "a tag of YAML 1.1": ["a: !!set {x}", 1, 4, /tag "!!set" is unknown/],
  "a tag that does not fit": ["a: !!int abc", 1, 4, /does not fit its value/],
  "a tag without its directive": ["a: !e!x 1", 1, 4, /tag "!e!x" is unknown/],
  "another version of YAML": ["%YAML 1.1\n---\na: 1", 1, 1, /another YAML version than 1.2/],
  "a version there is not": ["%YAML 1.9\n---\na: 1", 1, 7, /version/],
  "an unknown directive": ["%FOO\n---\na: 1", 1, 1, /FOO/],
  "a null character": ['a: "\0"', 1, 5, /Control characters/],
  "a control character that the parser uses itself": ["a: 1\n\x1fb", 2, 1, /Control characters/],
  "an unknown escape": ['a: "\\q"', 1, 5, /\\q/],
  "a hundred and one levels": [`a: ${"[".repeat(100)}${"]".repeat(100)}`, 1, 103, /100 levels/],
};

for (const [name, [yaml, line, column, message]] of Object.entries(invalid)) {
  test(`invalid: ${name}`, () => {
    const { problems, root } = parse(yaml);
    const [first] = problems.list();
    assert.match(first?.message ?? "", message);
    assert.deepEqual([first?.line, first?.column], [line, column]);
    assert.equal(root, undefined);
  });
}

test("a document may have 1 MiB in UTF-8, and no byte more", () => {
  const most = `a: ${"é".repeat((MAX_DOCUMENT_BYTES - 4) / 2)}x`;
  assert.equal(Buffer.byteLength(most), MAX_DOCUMENT_BYTES);
  assert.deepEqual(problemsOf(most), []);
  assert.match(problemsOf(`${most}x`)[0]?.message ?? "", /larger than 1 MiB/);
});

test("a document may have 250,000 tokens, and no more", () => {
  const tokensOf = (yaml: string) => [...new Lexer().lex(yaml)].length;
  const list = `a: [${"1,".repeat(80_000)}]`;
  const most = list + "\n".repeat(MAX_TOKENS - tokensOf(list));
  assert.equal(tokensOf(most), MAX_TOKENS);
  assert.deepEqual(problemsOf(most), []);
  assert.match(problemsOf(`${most}\n`)[0]?.message ?? "", /more than 250,000 tokens of YAML/);
});

test("a large policy in block style is valid", () => {
  const rule = (i: number) => `
  - id: allow-kubectl-get-${i}
    effect: allow
    description: "Lets agents look at the pods of team ${i}"
    match:
      commands:
        - prefix: kubectl get pods -n team-${i}
        - glob: "kubectl describe * -n team-${i}"`;
  const rules = Array.from({ length: 4_100 }, (_, i) => rule(i)).join("");
  const large = `schema: signalbox/policy/v1\nrules:${rules}\n`;
  assert.ok(large.length > 0.9 * MAX_DOCUMENT_BYTES);
  assert.deepEqual(problemsOf(large), []);
});

test("nesting of any kind and depth is refused at once, and never exhausts the stack", () => {
  for (const unit of ["[", "{a: ", "- ", "? ", "- [", "{? "]) {
    const [first] = problemsOf(repeat(unit, 100_000));
    assert.match(first?.message ?? "", /deeper than 100 levels/, unit);
  }
});

test("aliases that would multiply are refused without being expanded", () => {
  const levels = Array.from(
    { length: 60 },
    (_, i) => `l${i}: &l${i} [${i && `*l${i - 1}, *l${i - 1}`}]`,
  );
  const messages = problemsOf(levels.join("\n")).map(({ message }) => message);
  assert.ok(messages.includes("The aliases stand for more than 20000 nodes"));
});

test("aliases may expand to 20,000 nodes, and no more", () => {
  const list = `a: &x [${Array.from({ length: 99 }, () => "1").join(",")}]\n`; // 100 nodes
  const most = `${list}b: [${Array.from({ length: 200 }, () => "*x").join(",")}]`;
  assert.deepEqual(problemsOf(most), []);
  assert.equal(problemsOf(most.replace(/1\]/, "1,1]")).length, 1);
});

test("nesting behind aliases counts", () => {
  const half = `${"[".repeat(60)}${"]".repeat(60)}`;
  const yaml = `a: &x ${half}\nb: ${"[".repeat(60)}*x${"]".repeat(60)}`;
  assert.match(problemsOf(yaml)[0]?.message ?? "", /aliases nest .* deeper than 100 levels/);
});

test("of many problems the first hundred are reported, in the order of the text", () => {
  const yaml = `a: 1\n${Array.from({ length: 300 }, () => "a: 1\n").join("")}`;
  const problems = problemsOf(yaml);
  assert.equal(problems.length, 100);
  assert.deepEqual(problems[0], { message: 'Duplicate key "a"', line: 2, column: 1 });
  assert.ok(problems.every(({ line }, i) => i === 0 || line >= (problems[i - 1]?.line ?? 0)));
});

test("a message is one short line for every document", () => {
  const hostile = [
    "a: !" + "x".repeat(5_000),
    `"${"k\\n".repeat(300)}": 1\n"${"k\\n".repeat(300)}": 1`,
  ];
  for (const { message } of hostile.flatMap(problemsOf)) {
    assert.ok(message.length <= 310);
    assert.doesNotMatch(message, /[\p{Cc}\u2028\u2029]/u);
  }
});

test("checking does not affect the process", () => {
  const before = Error.stackTraceLimit;
  problemsOf("a: ]");
  assert.equal(Error.stackTraceLimit, before);
});

test("any output of the library is valid, and any text is checked without an exception", () => {
  const someValue = fc.dictionary(anyText(), fc.jsonValue(), { minKeys: 1 });
  fc.assert(
    fc.property(someValue, (value) => {
      const yaml = stringify(value, { aliasDuplicateObjects: false });
      // oxlint-disable-next-line no-control-regex -- such characters are refused in YAML itself
      fc.pre(!/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(yaml));
      assert.deepEqual(problemsOf(yaml), []);
    }),
    { numRuns: 100 },
  );
  const unit = fc.constantFrom(..."ab01:-?[]{},&*!|>'\"%@`#\n\n\t   \r.<=~\\\uFEFF");
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
      const { problems, root } = parse(text);
      assert.equal(problems.count === 0, root !== undefined);
      for (const { line, column } of problems.list()) assert.ok(line >= 1 && column >= 1);
    }),
    { numRuns: 1_000 },
  );
});
