import assert from "node:assert/strict";
import test from "node:test";
import type { GlobalRow } from "../../../../../src/storage/files/audit/index/segment-index.ts";
import { RecentIds } from "../../../../../src/storage/files/audit/write/recent-ids.ts";

test("at least as many ids as promised are known, and never more than twice as many", () => {
  const ids = new RecentIds(100);
  for (let i = 1; i <= 1_000; i++) {
    ids.add(i * 64, i as GlobalRow); // hashes that share few slots
    const known = Math.max(1, i - 99);
    assert.deepEqual(ids.rowsOf(known * 64), [known]);
    assert.deepEqual(ids.rowsOf((i - 200) * 64), []);
  }
});

test("every row of a hash is known, of the older generation too", () => {
  const ids = new RecentIds(2);
  ids.add(7, 1 as GlobalRow);
  ids.add(7, 2 as GlobalRow);
  ids.add(7, 3 as GlobalRow);
  assert.deepEqual([...ids.rowsOf(7)].sort(), [1, 2, 3]);
});

test("an id that was never seen is not known", () => {
  assert.deepEqual(new RecentIds().rowsOf(0), []);
});

test("ids that were made to have one hash do not crowd out others, and few of them are candidates", () => {
  const ids = new RecentIds(10_000);
  for (let i = 1; i <= 5_000; i++) ids.add(7, i as GlobalRow);
  ids.add(8, 5_001 as GlobalRow);
  assert.equal(ids.rowsOf(7).length, 32);
  assert.deepEqual(ids.rowsOf(8), [5_001]);
});
