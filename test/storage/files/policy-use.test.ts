import assert from "node:assert/strict";
import { test } from "node:test";
import { PolicyUse } from "../../../src/storage/files/policy-use.ts";

/** Slots, each with a version. */
function useOf(versions: readonly string[]): PolicyUse {
  const use = new PolicyUse();
  for (const [slot, version] of versions.entries()) use.report(slot, version);
  return use;
}

function countsOf(
  use: PolicyUse,
  limit = 10,
  isPresent: (slot: number) => boolean = () => true,
): readonly (readonly [string, number, number])[] {
  return use
    .most(limit, isPresent)
    .map(({ version, runtimes, present }) => [version, runtimes, present] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test("a version counts the runtimes that report it, and among them those that are present", () => {
  const use = useOf(["a", "b", "b", "", "b"]);
  assert.deepEqual(
    countsOf(use, 10, (slot) => slot !== 1),
    [
      ["a", 1, 1],
      ["b", 3, 2],
    ],
  );
});

test("a version that is not reported any more is forgotten, and another one takes its place", () => {
  const use = useOf(["a", "b"]);
  use.report(0, "b");
  assert.deepEqual(countsOf(use), [["b", 2, 2]]);
  use.report(1, undefined);
  use.report(1, undefined);
  use.report(0, "c");
  assert.deepEqual(countsOf(use), [["c", 1, 1]]);
  assert.deepEqual([use.find("a"), use.find("b")], [undefined, undefined]);
  assert.equal(use.numbers[0], use.find("c"));
  use.report(0, "");
  assert.deepEqual([countsOf(use), use.find("c")], [[], undefined]);
});

test("of many versions the most reported ones are returned, up to the limit", () => {
  const use = useOf(Array.from({ length: 100 }, (_, i) => `v${i % 7 < 4 ? i % 3 : i}`));
  const all = countsOf(use, 1_000);
  for (const limit of [1, 2, 3, 4, 20, all.length - 1, all.length]) {
    const most = countsOf(use, limit);
    assert.equal(most.length, limit);
    const counts = (rows: typeof all) => rows.map(([, runtimes]) => runtimes).sort((a, b) => b - a);
    assert.deepEqual(counts(most), counts(all).slice(0, limit));
    assert.ok(most.every(([version]) => all.some(([known]) => known === version)));
  }
});
