import assert from "node:assert/strict";
import test from "node:test";
import { ByteCache } from "../../../src/storage/files/byte-cache.ts";

test("the least recently used values are dropped when the bytes are used up", () => {
  const cache = new ByteCache<string>(3_000);
  for (const key of ["a", "b", "c"]) cache.keep(key, key, 700);
  assert.equal(cache.get("a"), "a");
  cache.keep("d", "d", 700);
  cache.keep("d", "another", 700);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => cache.get(key)),
    ["a", undefined, "c", "d"],
  );
});

test("many values without bytes, and long keys, are bounded as well", () => {
  const cache = new ByteCache<number>(50_000);
  cache.keep("first", 1, 0);
  for (let i = 0; i < 200; i++) cache.keep(`${i}`, i, 0);
  assert.equal(cache.get("first"), undefined);
  cache.keep("first", 1, 0);
  for (let i = 0; i < 3; i++) cache.keep(`${i}${"x".repeat(10_000)}`, i, 0);
  assert.equal(cache.get("first"), undefined);
});

test("a value that is larger than the cache is not kept", () => {
  const cache = new ByteCache<string>(1_000);
  cache.keep("a", "a", 100);
  cache.keep("b", "b", 2_000);
  assert.deepEqual([cache.get("a"), cache.get("b")], [undefined, undefined]);
});
