import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readAddress, readSearch, searchText } from "../../../src/portal/pages/audit-search.ts";

/** Texts, and the filters that they are read as. */
const TEXTS = [
  ["", {}],
  ["rm  -rf", { q: "rm  -rf" }],
  ['executor:ada -provider:git "rm -rf"', { executor: "ada", not_provider: "git", q: "rm -rf" }],
  ["git push Decision:denied consumer:AI", { q: "git push", decision: "DENIED", consumer: "ai" }],
  ['reason:"force pushes" trace:4bf9', { reason: "force pushes", trace_id: "4bf9" }],
  ['"executor:ada"', { q: "executor:ada" }],
  ['executor:"a \\"b\\" \\\\"', { executor: 'a "b" \\' }],
  ["https://example.com C:\\temp -rf -- a:b", { q: "https://example.com C:\\temp -rf -- a:b" }],
  ['"open', { q: '"open' }],
  ["runtime:build-1 -runtime:build-2", { runtime: "build-1", not_runtime: "build-2" }],
] as const;

for (const [text, filters] of TEXTS) {
  test(`the search ${JSON.stringify(text)} is read`, () => {
    const search = readSearch(text);
    assert.equal(search.problem, undefined);
    assert.deepEqual(search.filters, filters);
  });
}

/** Texts that cannot be read, and what the message says. */
const PROBLEMS = [
  ["exec:ada", /no field “exec”.*Fields are decision,.*quotes/],
  ["executor:", /a value after “executor:”/],
  ["executor:ada executor:bob", /“executor” can be given once/],
  ["-reason:x", /“reason” cannot be left out/],
  ["trace:4bf*", /“trace” takes no asterisk.*quotes/],
  ["reason:block*", /“reason” takes no asterisk/],
] as const;

for (const [text, message] of PROBLEMS) {
  test(`the search ${text} is refused with what would be right`, () => {
    assert.match(readSearch(text).problem ?? "", message);
  });
}

test("a text comes back from the box as it was, whatever it contains", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.constantFrom("a:b", 'x "y"', "executor:x", " a ")),
      (q) => {
        assert.equal(readSearch(searchText(q)).filters.q ?? "", q);
      },
    ),
  );
  assert.equal(searchText("rm -rf"), "rm -rf");
  assert.equal(searchText("executor:ada"), '"executor:ada"');
});

test("an address may have the text of the box beside its filters", () => {
  const at = (search: string) => {
    const parameters = new URLSearchParams(search);
    return readAddress((name) => parameters.get(name));
  };
  assert.deepEqual(at("find=executor:ada+rm&range=7d&executor=bob"), {
    view: { executor: "ada", q: "rm", range: "7d" },
  });
  assert.deepEqual(
    at('find=executor:ada*+-runtime:*t+-status:"f*"&provider=g*&wildcards=provider,policy').view,
    {
      ...{ executor: "ada*", not_runtime: "*t", not_status: "f*", provider: "g*" },
      wildcards: "provider,executor,not_runtime",
    },
  );
  // As a form sends it after the asterisk of the executor was removed.
  assert.deepEqual(at("find=&executor=ada&not_policy=v*&wildcards=executor,not_policy").view, {
    ...{ executor: "ada", not_policy: "v*", wildcards: "not_policy" },
  });
  assert.deepEqual(at("executor=ada*").view, { executor: "ada*" });
  assert.match(at("find=exec:ada").problem ?? "", /no field/);
});
