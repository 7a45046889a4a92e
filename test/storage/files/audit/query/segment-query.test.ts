import assert from "node:assert/strict";
import test from "node:test";
import { SearchCache } from "../../../../../src/storage/files/audit/query/segment-query.ts";
import { GrowingIndex } from "../../../../../src/storage/files/audit/index/growing-index.ts";
import { RowSet } from "../../../../../src/storage/files/audit/index/row-set.ts";

const index = new GrowingIndex(1);
const large = RowSet.ofBits(new Uint32Array(2_500).fill(-1)); // 10 KB

test("a search reuses its own matches, and no other organization's", () => {
  const rows = new SearchCache();
  rows.of("acme", "get").keep(index, large);
  assert.equal(rows.of("acme", "get").in(index), large);
  assert.equal(rows.of("acme", "get").in(new GrowingIndex(1)), undefined);
  assert.equal(rows.of("other", "get").in(index), undefined);
});

test("the least recently used searches are dropped, even while they run", () => {
  const rows = new SearchCache(50_000);
  const first = rows.of("acme", "first");
  const second = rows.of("acme", "second");
  second.keep(index, large);
  rows.of("acme", "first").keep(index, large);
  for (let i = 0; i < 3; i++) rows.of("acme", `text ${i}`).keep(new GrowingIndex(1), large);
  assert.equal(rows.of("acme", "second").in(index), undefined);
  assert.equal(rows.of("acme", "first").in(index), large);
  for (let i = 0; i < 500; i++) second.keep(index, large);
  assert.equal(rows.of("acme", "first"), first);
});

test("searches that find nothing are bounded as well", () => {
  const rows = new SearchCache(50_000);
  const first = rows.of("acme", "first");
  for (let i = 0; i < 200; i++) rows.of("acme", `text ${i}`);
  assert.notEqual(rows.of("acme", "first"), first);
});

test("the text of a search counts, so long texts cannot fill the memory", () => {
  const rows = new SearchCache(50_000);
  const first = rows.of("acme", "first");
  for (let i = 0; i < 3; i++) rows.of("acme", `${i}${"x".repeat(10_000)}`);
  assert.notEqual(rows.of("acme", "first"), first);
});
