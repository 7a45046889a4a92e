import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BadInput } from "../../src/core/errors.ts";
import type { Schema } from "../../src/core/schema.ts";
import { isObject, oneOf, pathOf, validate } from "../../src/core/validate.ts";

const child = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "string" },
    consumer: { type: "string", enum: ["human", "ai", "ci"] },
  },
} as const satisfies Schema;

const schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", maxLength: 5 },
    note: { type: "string" },
    count: { type: "integer", minimum: 0, maximum: 10 },
    active: { type: "boolean" },
    child,
    children: { type: "array", items: child, maxItems: 2 },
    labels: { type: "object", additionalProperties: { type: "string" } },
    few: { type: "object", additionalProperties: { type: "string" }, maxProperties: 2 },
    free: { type: "object", additionalProperties: true },
    either: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
  },
} as const satisfies Schema;

function refusal(value: unknown, place?: string): string {
  try {
    validate(schema, value, place);
  } catch (error) {
    assert.ok(error instanceof BadInput);
    return error.message;
  }
  return "accepted";
}

test("a valid value is copied, without unknown properties", () => {
  const given = {
    name: "a",
    note: "b",
    count: 10,
    active: false,
    child: { id: "x", consumer: "ci", more: 1 },
    children: [{ id: "y" }],
    labels: { "": "", k: "v" },
    free: { deep: [1, null] },
    either: true,
    unknown: 1,
  };
  const read = validate(schema, given);
  assert.deepEqual(read, {
    name: "a",
    note: "b",
    count: 10,
    active: false,
    child: { id: "x", consumer: "ci" },
    children: [{ id: "y" }],
    labels: { "": "", k: "v" },
    free: { deep: [1, null] },
    either: true,
  });
  assert.notEqual(read, given);
});

test("a map may have as many values as its schema says; null is none", () => {
  const few = { a: "1", b: null, c: "2", d: null };
  assert.deepEqual(validate(schema, { name: "a", few }), { name: "a", few: { a: "1", c: "2" } });
});

test("null counts as absent everywhere", () => {
  const nulls = Object.fromEntries(Object.keys(schema.properties).map((key) => [key, null]));
  assert.deepEqual(validate(schema, { ...nulls, name: "a" }), { name: "a" });
  assert.equal(refusal(nulls), "name: required");
  assert.deepEqual(validate(schema, { name: "a", labels: { a: null, b: "c" } }), {
    name: "a",
    labels: { b: "c" },
  });
  assert.equal(refusal({ name: "a", child: { id: null } }), "child.id: required");
});

test("an empty text counts as absent if optional, and as missing if required", () => {
  assert.deepEqual(validate(schema, { name: "a", note: "" }), { name: "a" });
  assert.equal(refusal({ name: "" }), "name: required");
  assert.equal(refusal({}), "name: required");
  assert.deepEqual(validate(child, { id: "x", consumer: "" }), { id: "x" });
});

test("in a strict schema null and an empty text are values, and an unknown property is refused", () => {
  const limits = {
    type: "object",
    required: ["id"],
    strict: true,
    properties: {
      id: { type: "string" },
      most: { type: "integer" },
      labels: { type: "object", additionalProperties: { type: "string" }, strict: true },
    },
  } as const satisfies Schema;
  const outer = {
    type: "object",
    properties: { base: { type: "string", strict: true }, note: { type: "string" }, limits },
  } as const satisfies Schema;
  const read = { base: "", limits: { id: "x", labels: {} } };
  assert.deepEqual(validate(outer, { ...read, note: null, unknown: 1 }), read);
  for (const [value, message] of [
    [{ base: null }, "base: expected a string"],
    [{ limits: { id: "" } }, "limits.id: required"],
    [{ limits: { id: null } }, "limits.id: required"],
    [{ limits: { id: "x", most: null } }, "limits.most: expected a whole number"],
    [{ limits: { id: "x", labels: { a: null } } }, "limits.labels.a: expected a string"],
    [{ limits: { id: "x", mots: 1 } }, "limits.mots: unknown key, expected id, most or labels"],
  ] as const) {
    assert.throws(() => validate(outer, value), new BadInput(message));
  }
});

test("an empty text is an invalid value for every other type", () => {
  assert.equal(refusal({ name: "a", count: "" }), "count: expected a whole number");
  assert.equal(refusal({ name: "a", active: "" }), "active: expected true or false");
  assert.equal(refusal({ name: "a", child: "" }), "child: expected a JSON object");
  assert.equal(refusal({ name: "a", children: "" }), "children: expected a list");
  assert.equal(refusal({ name: "a", either: "" }), "either: expected a whole number");
});

test("blank texts and zeros count as values", () => {
  assert.deepEqual(validate(schema, { name: " ", note: "\t", count: 0 }), {
    name: " ",
    note: "\t",
    count: 0,
  });
});

for (const [value, message] of [
  [null, "The body: expected a JSON object"],
  [[], "The body: expected a JSON object"],
  ["x", "The body: expected a JSON object"],
  [{ name: 1 }, "name: expected a string"],
  [{ name: ["a"] }, "name: expected a string"],
  [{ name: "123456" }, "name: expected at most 5 characters"],
  [{ name: "a", count: -1 }, "count: expected at least 0"],
  [{ name: "a", count: 11 }, "count: expected at most 10"],
  [{ name: "a", count: 1.5 }, "count: expected a whole number"],
  [{ name: "a", count: "1" }, "count: expected a whole number"],
  [{ name: "a", count: Infinity }, "count: expected a whole number"],
  [{ name: "a", count: 2 ** 53 }, "count: expected a whole number"],
  [{ name: "a", active: 1 }, "active: expected true or false"],
  [{ name: "a", active: "true" }, "active: expected true or false"],
  [{ name: "a", child: {} }, "child.id: required"],
  [{ name: "a", child: { id: "", consumer: "ci" } }, "child.id: required"],
  [{ name: "a", child: { id: "x", consumer: "AI" } }, "child.consumer: expected human, ai or ci"],
  [{ name: "a", children: {} }, "children: expected a list"],
  [{ name: "a", children: [null] }, "children[0]: expected a JSON object"],
  [{ name: "a", children: [{ id: "x" }, { id: 7 }] }, "children[1].id: expected a string"],
  [
    { name: "a", children: [{ id: "x" }, { id: "x" }, { id: "x" }] },
    "children: expected at most 2 items",
  ],
  [{ name: "a", labels: { k: 1 } }, "labels.k: expected a string"],
  [{ name: "a", few: { a: "1", b: "2", c: "3" } }, "few: expected at most 2"],
  // The values after one too many are not looked at.
  [{ name: "a", few: { a: "1", b: "2", c: "3", d: 4 } }, "few: expected at most 2"],
  [{ name: "a", free: [] }, "free: expected a JSON object"],
  [{ name: "a", either: "x" }, "either: expected a whole number"],
] as const) {
  test(`${JSON.stringify(value)} is refused: ${message}`, () => {
    assert.equal(refusal(value), message);
  });
}

test("a place given from outside comes first", () => {
  assert.equal(refusal({ name: 1 }, "events[2]"), "events[2].name: expected a string");
  assert.equal(refusal([], "events[2]"), "events[2]: expected a JSON object");
  assert.equal(pathOf("", "a"), "a");
  assert.equal(pathOf("a[0]", "b"), "a[0].b");
});

test("inherited names are neither read nor set", () => {
  const inherited = {
    type: "object",
    properties: { toString: { type: "string" }, constructor: { type: "string" } },
  } as const satisfies Schema;
  assert.deepEqual(Object.keys(validate(inherited, {}) as object), []);
  const hostile = JSON.parse('{"name":"a","__proto__":{"note":"polluted"}}') as unknown;
  const read = validate(schema, hostile);
  assert.deepEqual(Object.keys(read), ["name"]);
  assert.equal(Object.getPrototypeOf(read), Object.prototype);
  const labels = JSON.parse('{"name":"a","labels":{"__proto__":"x"}}') as unknown;
  const map = validate(schema, labels).labels ?? {};
  assert.deepEqual(Object.entries(map), [["__proto__", "x"]]);
  assert.equal(Object.getPrototypeOf(map), Object.prototype);
});

test("any JSON is accepted or refused as bad input, and validating twice changes nothing", () => {
  const nearly = fc.record(
    {
      name: fc.oneof(fc.constant("a"), fc.jsonValue()),
      count: fc.jsonValue(),
      active: fc.jsonValue(),
      child: fc.jsonValue(),
      children: fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.string() }))),
      labels: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), nearly), (value) => {
      let read: unknown;
      try {
        read = validate(schema, value);
      } catch (error) {
        return assert.ok(error instanceof BadInput);
      }
      assert.deepEqual(validate(schema, read), read);
    }),
  );
});

test("lists of words are formatted as in a sentence", () => {
  assert.equal(oneOf([]), "");
  assert.equal(oneOf(["a"]), "a");
  assert.equal(oneOf(["a", "b"]), "a or b");
  assert.equal(oneOf(["a", "b", "c"]), "a, b or c");
});

test("lists and null are not objects", () => {
  assert.deepEqual([{}, [], null, "", 1].map(isObject), [true, false, false, false, false]);
});
