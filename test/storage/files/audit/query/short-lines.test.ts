import assert from "node:assert/strict";
import { test } from "node:test";
import { ShortLines } from "../../../../../src/storage/files/audit/query/short-lines.ts";

test("the most recently used short forms are kept, up to a number of bytes", () => {
  const lines = new ShortLines(3_000);
  const line = Buffer.alloc(700, "x");
  for (const key of ["a", "b", "c"]) lines.keep(key, line);
  assert.equal(lines.get("a"), line);
  lines.keep("d", line);
  lines.keep("d", line);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => lines.get(key) !== undefined),
    [true, false, true, true],
  );
});
