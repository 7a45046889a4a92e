import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MAX_JSON_DEPTH, parseJson } from "../../../src/core/json/json.ts";
import {
  MAX_CONTAINERS,
  MAX_GAP_BYTES,
  MAX_NAME_BYTES,
  MAX_NAMES,
  MAX_VALUES,
  parseLongJson,
} from "../../../src/core/json/long-json.ts";
import { finish } from "../../../src/core/scheduling/work.ts";
import { anyText } from "../../support/any-text.ts";

const parse = (text: string): unknown => finish(parseLongJson(Buffer.from(text), true));

/** A text in UTF-8, which has no unpaired surrogate. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** The result or refusal of a parser, for comparison with another one. */
function outcome(parser: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parser(text) };
  } catch (error) {
    return { refusal: (error as Error).message };
  }
}

// Strings that are longer than a part break up the lists and objects around them.
const longText = fc
  .tuple(anyText({ minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 8_000 }))
  .map(([unit, count]) => wellFormed(unit.repeat(count)));
const name = fc.constantFrom("a", "b", "", "__proto__", "1", "constructor", "é", "\u{1f600}");
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), longText, longText),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  ),
}));
const spaces = fc.constantFrom(0, 2, "\t", "\r\n ");
const long = fc
  .tuple(
    fc.array(anyValue, { maxLength: 4 }),
    fc.dictionary(name, anyValue, { maxKeys: 3 }),
    spaces,
    fc.boolean(),
  )
  .map(([list, object, space, isList]) =>
    JSON.stringify(isList ? [...list, object] : { ...object, list }, null, space),
  );
const insert = fc.constantFrom(
  ...'{}[],:"\\/tf01-. \n\u0000x',
  "",
  "\\u12",
  '"a":',
  '"a" ',
  "[1],",
  "{}",
);

/** Long JSON with a few bytes replaced, often at a bracket or comma. */
const mutated = fc
  .tuple(long, fc.nat(), fc.nat(3), insert, fc.boolean())
  .map(([text, place, cut, inserted, isAtToken]) => {
    let at = place % (text.length + 1);
    if (isAtToken) {
      const tokens = [...text.matchAll(/[[\]{}",:]/g)];
      at = tokens[place % tokens.length]?.index ?? at;
    }
    return text.slice(0, at) + inserted + text.slice(at + cut);
  })
  .map(wellFormed);

test("a long text is parsed like JSON.parse", () => {
  fc.assert(
    fc.property(long, (text) => {
      const value = parse(text);
      assert.deepEqual(value, JSON.parse(text));
      assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)), "in the same order");
    }),
    { numRuns: 50 },
  );
});

test("an invalid long text is refused with the same message and place as a short one", () => {
  fc.assert(
    fc.property(mutated, (text) => {
      const expected = outcome(parseJson, text);
      const actual = outcome(parse, text);
      // A text without its quote may become a name, or text between tokens: both are bounded.
      const { refusal = "" } = actual as { readonly refusal?: string };
      if (!/of more than \d+ bytes/.test(refusal)) assert.deepEqual(actual, expected);
    }),
    { numRuns: 100, endOnFailure: true },
  );
});

test("of members with equal names the last value counts, at the position of the first", () => {
  const long = JSON.stringify("x".repeat(70_000));
  for (const text of [
    `{"a":1,"b":${long},"a":[${long}],"__proto__":{"x":${long}},"b":2,"__proto__":3}`,
    `{"a":[${long},1],"a":{"a":${long}}}`,
    `{"1":${long},"b":1,"0":${long}}`,
  ]) {
    assert.equal(JSON.stringify(parse(text)), JSON.stringify(JSON.parse(text)));
    assert.equal(Object.getPrototypeOf(parse(text)), Object.prototype);
  }
});

test("an escaped lone surrogate is refused with its line and column before a value is made", () => {
  const values = `"\\ud83d\\ude00",${"1,".repeat(200_000)}`;
  const bytes = (last: string): Buffer => Buffer.from(`[${values}\n"${last}"]`);
  const work = parseLongJson(bytes("\\udc00"), false);
  let parts = 0;
  const fault = "The body, line 2, column 2: expected Unicode text, found an unpaired surrogate";
  const run = (): void => {
    while (work.next().done !== true) parts++;
  };
  assert.throws(run, { message: fault });
  assert.equal(parts, Math.floor(bytes("").length / (16 << 10)));
  assert.equal((finish(parseLongJson(bytes("a"), false)) as unknown[]).length, 200_002);
});

test("escapes of lone surrogates become U+FFFD, and pairs stay, wherever a part ends", () => {
  for (const unit of ["\\ud83d\\ude00", "\\ud83d", "\\ude00\\n", "é\\ud83d\\ude00x", "\\\\ud83d"]) {
    for (const before of ["", "a", "ab", "abc", "abcd", "abcde"]) {
      const text = `["${before}${unit.repeat(20_000)}"]`;
      const [whole] = JSON.parse(text) as [string];
      assert.deepEqual(parse(text), [wellFormed(whole)]);
    }
  }
});

test("the deepest nesting is parsed, one level more is refused", () => {
  const nest = (depth: number): string =>
    `[${'"x",'.repeat(20_000)}${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}]`;
  assert.deepEqual(parse(nest(MAX_JSON_DEPTH)), JSON.parse(nest(MAX_JSON_DEPTH)));
  assert.throws(
    () => parse(nest(MAX_JSON_DEPTH + 1)),
    /^Error: The body nests deeper than 64 levels$/,
  );
});

test("a text with too many members or values is refused", () => {
  const padding = `"padding":"${",{[".repeat(400_000)}"`; // brackets in a string do not count
  const members = (count: number): string =>
    `{${padding},${Array.from({ length: count - 1 }, (_, i) => `"m${i}":1`).join(",")}}`;
  assert.equal(Object.keys(parse(members(MAX_NAMES)) as object).length, MAX_NAMES);
  assert.throws(() => parse(members(MAX_NAMES * 1.1)), /more than 1000 different names/);
  const apart = Array.from({ length: MAX_NAMES * 1.1 }, (_, i) => `{"m${i}" : 1}`).join(",");
  assert.throws(() => parse(`[{${padding}},${apart}]`), /more than 1000 different names/);

  const values = (count: number): string => `[${"10,".repeat(count - 1)}10]`;
  assert.equal((parse(values(MAX_VALUES)) as unknown[]).length, MAX_VALUES);
  assert.throws(() => parse(values(MAX_VALUES + 2)), /more than 250000 values/);
  const lists = (count: number): string => `[${`[${" ".repeat(9)}],`.repeat(count - 2)}[]]`;
  assert.equal((parse(lists(MAX_CONTAINERS)) as unknown[]).length, MAX_CONTAINERS - 1);
  assert.throws(() => parse(lists(MAX_CONTAINERS + 1)), /more than 50000 objects and lists/);
});

test("a long name, a long number and long white space are refused", () => {
  const named = (length: number): string => `{"${"n".repeat(length - 1)}":1}`;
  assert.deepEqual(parse(named(MAX_NAME_BYTES)), JSON.parse(named(MAX_NAME_BYTES)));
  assert.throws(() => parse(named(MAX_NAME_BYTES + 1)), /a name of more than 4096 bytes/);
  for (const fill of ["9", " ", "\n"]) {
    assert.doesNotThrow(() => parse(`[1${fill.repeat(MAX_GAP_BYTES - 1)}]`));
    for (const wrap of ["[1_]", "_[]", "[]_", '{"a"_:1}', "1_"]) {
      const text = wrap.replace("_", fill.repeat(MAX_GAP_BYTES + 1));
      assert.throws(() => parse(text), /a number, or white space, of more than 65536 bytes/);
    }
  }
});

const MIB = 1 << 20;
const LONGEST: Readonly<Record<string, string>> = {
  escapes: `["${"\\u0061".repeat(MIB)}"]`,
  newlines: `["${"\\n".repeat(4 * MIB)}"]`,
  characters: `{"a":"${"漢".repeat(2 * MIB)}"}`,
  numbers: `[${"1.234567890123456789e-7,".repeat(200_000)}1]`,
  strings: `[${'"abcdefghij",'.repeat(200_000)}1]`,
  "names again and again": `{${'"a":1,'.repeat(200_000)}"b":1}`,
  "objects in a list": `{"events":[${'{"a":{}},'.repeat(20_000)}{}]}`,
  "white space": `[${`1,${" ".repeat(60_000)}`.repeat(100)}1]`,
  "strings without commas": `[${'"漢" '.repeat(MIB)}]`,
  "objects without commas": `[${'{"a":"漢"} '.repeat(40_000)}]`,
  "lists at the top": `${`[${" ".repeat(60_000)}]`.repeat(100)}`,
};
for (const [kind, text] of Object.entries(LONGEST)) {
  const isJson = !/without|top/.test(kind);
  test(`megabytes of ${kind} are parsed in parts of some KiB`, (t) => {
    const given: number[] = [];
    const parse = JSON.parse;
    t.mock.method(JSON, "parse", (part: string): unknown => {
      given.push(part.length);
      return parse(part);
    });
    const work = parseLongJson(Buffer.from(text), true);
    let parts = 1;
    const run = (): void => {
      while (work.next().done !== true) parts++;
    };
    if (isJson) run();
    else assert.throws(run, /Malformed JSON/);
    assert.ok(Math.max(...given) < 256 << 10, `${Math.max(...given)} at once`);
    assert.ok(!isJson || parts > text.length / (64 << 10), `${parts}`);
  });
}

test("escapes in a long text are searched for surrogates in parts, before anything is parsed", () => {
  const bytes = Buffer.from(JSON.stringify("\\".repeat(1 << 20)));
  const steps = (text: Buffer): number => [...parseLongJson(text, true)].length;
  const plain = Buffer.from(JSON.stringify("x".repeat(2 << 20)));
  const searched = Math.floor(bytes.length / (64 << 10));
  const parsed = Math.floor(bytes.length / (16 << 10));
  assert.ok(steps(bytes) >= searched + parsed && steps(plain) >= searched + parsed);
  const late = Buffer.from(`["${"x".repeat((64 << 10) - 3)}\\ud800","${"y".repeat(1 << 19)}"]`);
  assert.throws(() => finish(parseLongJson(late, false)), /unpaired surrogate/);
});
