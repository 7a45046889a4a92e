import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BadInput } from "../../src/core/errors.ts";
import { readQuery, type QueryParameters } from "../../src/http/query.ts";

const parameters = {
  q: { type: "string" },
  decision: { type: "string", enum: ["ALLOWED", "DENIED"], forgiving: true },
  format: { type: "string", enum: ["ndjson", "csv"], default: "ndjson" },
  limit: { type: "integer", minimum: 1, maximum: 1000, default: 100, forgiving: true },
  offset: { type: "integer", minimum: 0, default: 0, forgiving: true },
  days: { type: "integer", minimum: 1, maximum: 7 },
  free: { type: "integer" },
  label: { type: "array", items: { type: "string" }, maxItems: 2 },
} as const satisfies QueryParameters;

const read = (search: string) => readQuery(parameters, search);
const UNSET = {
  q: undefined,
  decision: undefined,
  format: "ndjson",
  limit: 100,
  offset: 0,
  days: undefined,
  free: undefined,
  label: undefined,
};

test("without parameters, or with empty or unknown ones, every value is the default", () => {
  const empty = Object.keys(parameters).map((name) => `${name}=`);
  for (const search of ["", "&", "=", "?", "other=1", empty.join("&"), "limit", "Limit=5"]) {
    assert.deepEqual(read(search), UNSET, search);
  }
});

test("a list has every value that is not empty, up to its limit", () => {
  assert.deepEqual(read("label=a")["label"], ["a"]);
  assert.deepEqual(read("label=a&q=x&label=&label=b")["label"], ["a", "b"]);
  const message = "label: expected at most 2";
  assert.throws(() => read("label=a&label=b&label=c"), new BadInput(message));
});

test("the first of repeated parameters counts, even if it is empty", () => {
  assert.equal(read("limit=5&limit=6")["limit"], 5);
  assert.equal(read("limit=&limit=6")["limit"], 100);
  assert.equal(read("q=a&q=b")["q"], "a");
});

test("values are form-decoded, and a bad encoding does no harm", () => {
  assert.equal(read("q=a+b%20c%2B%26")["q"], "a b c+&");
  assert.equal(read("q=%F0%9F%98%80")["q"], "😀");
  assert.equal(read("q=%")["q"], "%");
  assert.equal(read("q=%ff")["q"], "\ufffd");
  assert.equal(read("q=a=b=c")["q"], "a=b=c");
  assert.equal(read("%71=a")["q"], "a");
});

for (const [text, limit] of [
  ["1", 1],
  ["1000", 1000],
  ["1001", 1000],
  ["0", 1],
  ["-1", 1],
  ["-0", 1],
  ["007", 7],
  ["%2B5", 5],
  ["99999999999999999999999999", 1000],
  ["9".repeat(400), 1000],
  ["-99999999999999999999999999", 1],
  ["1.5", 100],
  ["1e2", 100],
  ["0x10", 100],
  ["ten", 100],
  ["5%20", 100],
  ["+5", 100],
  ["Infinity", 100],
  ["NaN", 100],
  ["١", 100],
  ["5%00", 100],
] as const) {
  test(`a forgiving limit of ${text.slice(0, 30)} is ${limit}`, () => {
    assert.equal(read(`limit=${text}`)["limit"], limit);
  });
}

test("a forgiving number without a maximum stays a number that JSON can represent", () => {
  for (const text of ["9007199254740993", "9".repeat(30), "9".repeat(400)]) {
    assert.equal(read(`offset=${text}`)["offset"], Number.MAX_SAFE_INTEGER);
  }
});

test("a forgiving word may be any word", () => {
  assert.equal(read("decision=maybe")["decision"], "maybe");
  assert.equal(read("decision=DENIED")["decision"], "DENIED");
});

for (const [search, message] of [
  ["format=xml", "format: expected ndjson or csv"],
  ["format=CSV", "format: expected ndjson or csv"],
  ["days=0", "days: expected a whole number from 1 to 7"],
  ["days=8", "days: expected a whole number from 1 to 7"],
  ["days=1.5", "days: expected a whole number from 1 to 7"],
  ["days=x", "days: expected a whole number from 1 to 7"],
  ["free=x", "free: expected a whole number"],
  [`free=${"9".repeat(30)}`, "free: expected a whole number"],
] as const) {
  test(`${search} is refused: ${message}`, () => {
    assert.throws(() => read(search), new BadInput(message));
  });
}

test("any query gives whole numbers in range and texts that are not empty", () => {
  const pair = fc.tuple(fc.constantFrom("q", "decision", "limit", "offset"), fc.string());
  const search = fc.array(pair).map((pairs) => new URLSearchParams(pairs).toString());
  fc.assert(
    fc.property(fc.oneof(search, fc.string()), (text) => {
      const { q, limit, offset } = readQuery(
        { q: parameters.q, limit: parameters.limit, offset: parameters.offset },
        text,
      );
      assert.ok(q === undefined || (typeof q === "string" && q !== ""));
      assert.ok(Number.isSafeInteger(limit) && Number(limit) >= 1 && Number(limit) <= 1000);
      assert.ok(Number.isSafeInteger(offset) && Number(offset) >= 0);
    }),
  );
});
