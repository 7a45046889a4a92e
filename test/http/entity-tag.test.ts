import assert from "node:assert/strict";
import { test } from "node:test";
import { etagOf, isCurrent } from "../../src/http/entity-tag.ts";

test("a tag is strong, quoted, and the same for the same bytes", () => {
  assert.match(etagOf("a"), /^"[\w-]{43}"$/);
  assert.equal(etagOf("a"), etagOf(Buffer.from("a")));
  assert.notEqual(etagOf("a"), etagOf("b"));
});

test("If-None-Match is a list, a star, or one tag, compared weakly", () => {
  for (const field of ['"t"', 'W/"t"', '"a", "t"', '"a","b" , W/"t"', "*", " * ", '"a,b", "t"']) {
    assert.ok(isCurrent(field, '"t"'), field);
  }
  for (const field of [undefined, "", "t", '"T"', '"a"', 'w/"t"', '"tt"', '"a, t"', "**"]) {
    assert.ok(!isCurrent(field, '"t"'), field);
  }
});

test("a tag is found in a list of any length", () => {
  assert.ok(isCurrent(`${'"a",'.repeat(4_000)}"t"`, '"t"'));
  assert.ok(!isCurrent('"a",'.repeat(4_000), '"t"'));
});
