/** Filters as conditions of SQL. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionsOf } from "../../../../src/storage/postgres/audit/conditions.ts";
import { Values } from "../../../../src/storage/postgres/values.ts";

function valuesOf(q: string): readonly unknown[] {
  const values = new Values();
  const conditions = conditionsOf({ q }, values);
  assert.equal(conditions.includes("strpos("), values.all.length > 1);
  return values.all;
}

test("`LIKE` looks for the beginning of a long text only, which is searched by `strpos`", () => {
  assert.deepEqual(valuesOf("A_b"), [String.raw`%a\_b%`]);
  const edge = "a".repeat(100);
  assert.deepEqual(valuesOf(edge), [`%${edge}%`]);
  assert.deepEqual(valuesOf(`${edge}B`), [`%${edge}%`, `${edge}b`]);
  const pair = `${"a".repeat(99)}🌍`;
  assert.deepEqual(valuesOf(pair), [`%${pair}%`]);
  assert.deepEqual(valuesOf(`${pair}b`), [`%${pair}%`, `${pair}b`]);
});
