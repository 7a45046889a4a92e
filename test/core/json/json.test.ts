import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BadInput } from "../../../src/core/errors.ts";
import { findFault } from "../../../src/core/json/json-fault.ts";
import { MAX_JSON_DEPTH, parseJson } from "../../../src/core/json/json.ts";
import { mendSurrogates } from "../../../src/core/json/surrogates.ts";
import { anyText } from "../../support/any-text.ts";

/** The expectation after a text without a fault. */
const NO_FAULT = "expected nothing after the value";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const pretty = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2, "\t", "\r\n "))
  .map(([value, indent]) => JSON.stringify(value, null, indent));

const piece = fc.oneof(
  fc.constantFrom(
    ..."{}[],:\"\\/tfn01-+.eE \t\r\n\u0000\u001f\u007f\u2028\ufeff'x",
    "true",
    "\\u12",
  ),
  anyText({ maxLength: 2 }),
);

/** JSON with a part replaced by other text. */
const mutated = fc
  .tuple(pretty, fc.nat(), fc.nat(3), fc.oneof(fc.constant(""), piece))
  .map(([text, at, cut, insert]) => {
    const index = at % (text.length + 1);
    return text.slice(0, index) + insert + text.slice(index + cut);
  });

const truncated = fc
  .tuple(pretty, fc.nat())
  .map(([text, at]) => text.slice(0, at % (text.length + 1)));

test("the locator and the engine agree on what is JSON, and the fault is where JSON stops", () => {
  fc.assert(
    fc.property(fc.oneof(mutated, truncated, pretty, fc.string()), (text) => {
      const { at, expected } = findFault(text);
      assert.equal(at === text.length && expected === NO_FAULT, isJson(text), expected);
      assert.ok(at <= text.length);
      // The text before a fault must be the beginning of valid JSON: its only fault is its end.
      assert.equal(findFault(text.slice(0, at)).at, at, expected);
    }),
    { numRuns: 3000 },
  );
});

test("a text is parsed like JSON.parse, or refused with a place", () => {
  fc.assert(
    fc.property(fc.oneof(mutated, truncated), (text) => {
      if (isJson(text)) return assert.doesNotThrow(() => parseJson(text));
      assert.throws(() => parseJson(text), /^Error: Malformed JSON at line \d+, column \d+: /);
    }),
  );
});

test("a parsed value equals the written value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(text), JSON.parse(text));
    }),
  );
});

for (const [text, line, column, expected] of [
  ["", 1, 1, "the text ends here, expected a value"],
  ["  \n ", 2, 2, "the text ends here, expected a value"],
  ["{", 1, 2, "the text ends here, expected a string in double quotes"],
  ['{"a"', 1, 5, "the text ends here, expected ':'"],
  ['{"a":1', 1, 7, "the text ends here, expected ',' or '}'"],
  ['{"a":1,}', 1, 8, "expected a string in double quotes"],
  ["{'a':1}", 1, 2, "expected a string in double quotes"],
  ["[1,]", 1, 4, "expected a value"],
  ["[1 2]", 1, 4, "expected ',' or ']'"],
  ["[1", 1, 3, "the text ends here, expected ',' or ']'"],
  ['"abc', 1, 5, "the text ends here, the string does not end"],
  ['{\n  "a": tru\n}', 2, 8, "expected a value"],
  ["{} {}", 1, 4, "expected nothing after the value"],
  ["01", 1, 2, "expected nothing after the value"],
  ["\ufeff{}", 1, 1, "expected a value"],
  ['["\\x"]', 1, 3, "expected an escape that JSON knows"],
  ['["a\n  b"]', 1, 4, "control characters in a string must be escaped"],
  ['["\t\t"]', 1, 3, "control characters in a string must be escaped"],
  ['["a\r\n', 1, 4, "control characters in a string must be escaped"],
] as const) {
  test(`the fault of ${JSON.stringify(text)} is at ${line}:${column}`, () => {
    const message = `Malformed JSON at line ${line}, column ${column}: ${expected}`;
    assert.throws(() => parseJson(text), new BadInput(message));
  });
}

test("a refusal never quotes the text", () => {
  const secret = "hunter2hunter2";
  for (const text of [`{"password":"${secret}" x}`, `{"p":${secret}}`, secret, `"${secret}`]) {
    assert.throws(
      () => parseJson(text),
      (error: Error) => error instanceof BadInput && !error.message.includes("hunter"),
    );
  }
});

test("the deepest allowed nesting is parsed, one level more is refused", () => {
  const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  assert.equal(MAX_JSON_DEPTH, 64);
  const spaced = (depth: number) => '{"a" :\t\r\n '.repeat(depth) + "1" + "}".repeat(depth);
  for (const nest of [lists, objects, spaced]) {
    assert.doesNotThrow(() => parseJson(nest(64)));
    assert.throws(() => parseJson(nest(65)), /^Error: The body nests deeper than 64 levels$/);
    assert.throws(() => parseJson(nest(200_000)), /deeper than 64/);
  }
  assert.throws(() => parseJson("[".repeat(64)), /Malformed/);
  assert.throws(() => parseJson("[".repeat(65)), /deeper than 64/);
});

test("brackets in strings, and many containers side by side, do not count as nesting", () => {
  const quoted = `["${"[{".repeat(100)}","\\"${"[".repeat(100)}","\\\\"]`;
  assert.deepEqual(parseJson(quoted), JSON.parse(quoted));
  assert.equal((parseJson(`[${"[],".repeat(500)}[]]`) as unknown[]).length, 501);
  assert.throws(() => parseJson(`${"]".repeat(500)}${"[".repeat(500)}`), BadInput);
});

function mended(text: string): string {
  const bytes = Buffer.from(text);
  mendSurrogates(bytes);
  return bytes.toString();
}

test("escapes of lone surrogates become U+FFFD in values and in names; pairs stay", () => {
  const parsed = (text: string) => parseJson(mended(text));
  assert.deepEqual(parsed('["\\ud800", "a\\uDC00b", "\\uD83D\\uDE00", "\\ude00\\ud83d"]'), [
    "\ufffd",
    "a\ufffdb",
    "😀",
    "\ufffd\ufffd",
  ]);
  assert.deepEqual(parsed('{"x":{"\\ud800":["\\udfff"]}}'), { x: { "\ufffd": ["\ufffd"] } });
  assert.equal(parsed('"\\\\ud800"'), "\\ud800");
  for (const cut of ["\\ud800", "\\ud80", "\\u", "\\", "\\ud800\\udc0"]) mended(cut);
});

test("a mended text equals its conversion through UTF-8", () => {
  const piece = fc.constantFrom("\\ud83d", "\\uDE00", "\\\\", "\\n", "u", "d83d", "é", "\\u0041");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = `"${pieces.join("")}"`;
      assert.equal(parseJson(mended(text)), Buffer.from(JSON.parse(text) as string).toString());
    }),
    { numRuns: 2_000 },
  );
});

test("names like __proto__ are ordinary names", () => {
  for (const text of [
    '{"__proto__":{"admin":true},"constructor":1}',
    '{"__proto__":{"admin":true},"x":"\\u0041"}',
  ]) {
    const value = parseJson(text) as object;
    assert.ok(Object.hasOwn(value, "__proto__"));
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal((value as { admin?: unknown }).admin, undefined);
  }
  assert.equal(({} as { admin?: unknown }).admin, undefined);
});
