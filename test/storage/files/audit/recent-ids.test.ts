import assert from "node:assert/strict";
import test from "node:test";
import { RecentIds } from "../../../../src/storage/files/audit/recent-ids.ts";

test("at least as many ids as promised are known, and never more than twice as many", () => {
  const ids = new RecentIds<number>(100);
  for (let i = 1; i <= 1_000; i++) {
    ids.set(`id-${i}`, i);
    assert.equal(ids.get(`id-${Math.max(1, i - 99)}`), Math.max(1, i - 99));
    assert.equal(ids.get(`id-${i - 200}`), undefined);
  }
});

test("an id that was never seen is not known", () => {
  assert.equal(new RecentIds<number>().get("id"), undefined);
});
