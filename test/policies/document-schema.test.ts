/** Holds the JSON Schema of policies against the checker, by a validator that knows only the schema. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { policyDocument } from "../../src/policies/document-schema.ts";
import { examine } from "../../src/policies/examine.ts";

const fits = new Ajv2020({ strict: true }).compile(policyDocument);

/** The rules that a JSON Schema cannot express. */
const BEYOND = /another rule has the id|expected human, ai or ci, found/;

/** The problems that the checker finds in the shape of a document, whose tests are not run. */
function problemsOf(document: unknown): readonly string[] {
  const yaml = JSON.stringify(document);
  const { problems } = examine({ yaml, command: { command: "true" } });
  return problems.map(({ message }) => message);
}

/** Checks that both agree, apart from the rules that only the checker has. */
function agree(document: unknown): void {
  const problems = problemsOf(document).filter((message) => !BEYOND.test(message));
  assert.equal(
    fits(document),
    problems.length === 0,
    `${JSON.stringify(document)}: ${problems[0]}`,
  );
}

const odd = fc.constantFrom<unknown>(null, 1, true, "", " \u00a0\t", "allow", "x", [], {}, ["x"]);
const often = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: value }, { weight: 1, arbitrary: odd });
const text = often(fc.constantFrom("git push", "a", "*", "\u2028é"));
const effect = often(fc.constantFrom("allow", "deny"));
const listOf = (item: fc.Arbitrary<unknown>) => often(fc.array(item, { maxLength: 3 }));
const someKey = { metdata: text, "x-team": odd, rule: text };

/** A mapping that mostly has its required keys, and sometimes a key that is not known there. */
function mapping(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<unknown> {
  const all = { ...required, ...optional };
  const whole = fc.record(all, { requiredKeys: Object.keys(required) });
  const torn = fc.record({ ...all, ...someKey }, { requiredKeys: [] });
  return often(fc.oneof({ weight: 20, arbitrary: whole }, { weight: 1, arbitrary: torn }));
}

const capability = often(fc.constantFrom("git/push", "git/*", "*", "git", "a/b/c", "*/x"));
const consumer = often(fc.constantFrom("ai", "human", "ci", "*", "c*", "robot"));
const match = mapping(
  {},
  {
    commands: listOf(mapping({}, { exact: text, prefix: text, glob: text })),
    providers: listOf(text),
    capabilities: listOf(capability),
    consumers: listOf(consumer),
    executors: listOf(text),
    resources: listOf(text),
  },
);
const enabled = often(fc.boolean());
const rule = mapping(
  { id: text, effect, match },
  { description: text, reason: text, enabled, except: listOf(match) },
);
const row = mapping(
  { expect: effect },
  {
    command: text,
    provider: text,
    capability,
    consumer,
    executor: text,
    resource: text,
    rule: text,
  },
);
const someDocument = mapping(
  { schema: fc.constant("signalbox/policy/v1"), rules: listOf(rule) },
  {
    ...{ name: text, description: text, default: effect, tests: listOf(row) },
    mode: often(fc.constantFrom("enforce", "observe")),
    ...{ metadata: often(fc.dictionary(fc.constantFrom("a", "b"), odd)), "x-any": odd },
  },
).filter((one) => (one as { schema?: unknown } | null)?.schema !== undefined);

test("the checker and the JSON Schema agree about any document", () => {
  fc.assert(fc.property(someDocument, agree), { numRuns: 2_000 });
});

const pattern = { prefix: "git push" };
const condition = {
  commands: [pattern, { exact: "git" }, { glob: "git *" }],
  providers: ["git"],
  capabilities: ["git/push", "*"],
  consumers: ["ai"],
  executors: ["ada"],
  resources: ["main"],
};
const FULL = {
  schema: "signalbox/policy/v1",
  name: "n",
  description: "d",
  default: "allow",
  mode: "observe",
  rules: [
    {
      ...{ id: "a", effect: "deny", description: "d", reason: "r", enabled: false },
      ...{ match: condition, except: [condition] },
    },
    { id: "b", effect: "allow", match: {} },
  ],
  tests: [
    {
      ...{ command: "git push", provider: "git", capability: "git/push", consumer: "ai" },
      ...{ executor: "ada", resource: "main", expect: "deny", rule: "a" },
    },
  ],
};

/** Every copy of a value in which one part is replaced, with the place of the part. */
function* changed(
  value: unknown,
  change: (part: unknown) => unknown,
  place = "",
): Generator<readonly [place: string, copy: unknown]> {
  const made = change(value);
  if (made !== undefined) yield [place, made];
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === "schema") continue; // another schema is another kind of document
    for (const [inner, copy] of changed(part, change, `${place}/${key}`)) {
      const whole = Array.isArray(value)
        ? value.with(Number(key), copy)
        : { ...value, [key]: copy };
      yield [inner, whole];
    }
  }
}

test("a document with every key is valid for both", () => {
  assert.deepEqual(problemsOf(FULL), []);
  agree(FULL);
  agree({ ...FULL, metadata: { any: [1, null] }, "x-any": { thing: 1 } });
});

test("both refuse a value of a wrong type at every place", () => {
  const wrong = (part: unknown) => (typeof part === "object" ? "text" : 7);
  const places = [...changed(FULL, wrong)].filter(([place]) => place !== "");
  assert.ok(places.length > 50);
  for (const [place, document] of places) {
    assert.ok(problemsOf(document).length > 0 && !fits(document), place);
  }
});

test("both refuse an unknown key at every place", () => {
  const isMapping = (part: unknown) => typeof part === "object" && !Array.isArray(part);
  const more = (part: unknown) => (isMapping(part) ? { ...(part as object), qqq: "x" } : undefined);
  const places = [...changed(FULL, more)];
  assert.ok(places.length > 10);
  for (const [place, document] of places) {
    assert.ok(problemsOf(document).length > 0 && !fits(document), place);
  }
});

test("a missing key is refused by both where it is required", () => {
  for (const key of ["rules", "id", "effect", "match", "expect"]) {
    const without = (part: unknown) => {
      if (typeof part !== "object" || !Object.hasOwn(part as object, key)) return undefined;
      return Object.fromEntries(Object.entries(part as object).filter(([name]) => name !== key));
    };
    const places = [...changed(FULL, without)];
    assert.ok(places.length > 0);
    for (const [place, document] of places) {
      assert.ok(problemsOf(document).length > 0 && !fits(document), `${place}/${key}`);
    }
  }
});

/** The places in a schema at which a description is missing. */
function undescribed(schema: Readonly<Record<string, unknown>>, place = ""): readonly string[] {
  const { description, properties = {}, items } = schema;
  const inner = Object.entries(properties as Record<string, Record<string, unknown>>);
  const entries = items as Record<string, unknown> | undefined;
  return [
    ...(typeof description === "string" && description !== "" ? [] : [place]),
    ...inner.flatMap(([name, one]) => undescribed(one, `${place}/${name}`)),
    ...(entries ? undescribed(entries, `${place}[]`) : []),
  ];
}

test("every value of the schema has a description", () => {
  assert.deepEqual(undescribed(policyDocument), []);
});
