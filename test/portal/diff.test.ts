import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { finish } from "../../src/core/scheduling/work.ts";
import { diffCounts, diffLines, linesOf, type DiffRun } from "../../src/portal/diff.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 24 });

/** Applies a difference to the left text. */
function apply(left: readonly string[], right: readonly string[], runs: readonly DiffRun[]) {
  return runs.flatMap(({ kind, left: l, right: r, count }) => {
    if (kind === "removed") return [];
    return kind === "same" ? left.slice(l, l + count) : right.slice(r, r + count);
  });
}

/** The length of the longest common subsequence, from its definition. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    for (const [j, other] of b.entries()) {
      next.push(one === other ? (row[j] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

test("a difference turns one text into the other, and covers both in order", () => {
  fc.assert(
    fc.property(lines, lines, fc.integer({ min: 0, max: 60 }), (left, right, mostEdits) => {
      const runs = finish(diffLines(left, right, mostEdits));
      assert.deepEqual(apply(left, right, runs), right);
      let [l, r] = [0, 0];
      for (const run of runs) {
        assert.deepEqual([run.left, run.right], [l, r]);
        if (run.kind !== "added") l += run.count;
        if (run.kind !== "removed") r += run.count;
      }
      assert.deepEqual([l, r], [left.length, right.length]);
    }),
  );
});

test("no shorter difference exists", () => {
  fc.assert(
    fc.property(lines, lines, (left, right) => {
      const { removed, added } = diffCounts(finish(diffLines(left, right)));
      const same = common(left, right);
      assert.deepEqual([removed, added], [left.length - same, right.length - same]);
    }),
  );
});

test("runs alternate: common lines, removals, additions", () => {
  fc.assert(
    fc.property(lines, lines, (left, right) => {
      const kinds = finish(diffLines(left, right)).map(({ kind }) => kind);
      assert.doesNotMatch(kinds.join(" "), /(\w+) \1|added removed/);
    }),
  );
});

test("texts with nothing in common are replaced without a full search", () => {
  // A full search would take gigabytes of trace.
  const left = Array.from({ length: 30_000 }, (_, i) => `left ${i}`);
  const right = Array.from({ length: 30_000 }, (_, i) => `right ${i}`);
  assert.deepEqual(diffCounts(finish(diffLines(left, right))), { removed: 30_000, added: 30_000 });
});

test("a text has as many lines as an editor shows", () => {
  assert.deepEqual(linesOf(""), []);
  assert.deepEqual(linesOf("a\nb\n"), ["a", "b"]);
  assert.deepEqual(linesOf("a\r\n\nb"), ["a", "", "b"]);
});
