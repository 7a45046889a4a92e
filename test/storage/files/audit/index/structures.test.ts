import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { finish } from "../../../../../src/core/scheduling/work.ts";
import {
  countFacets,
  countByFacets,
  matchingCount,
} from "../../../../../src/storage/files/audit/index/facet-counts.ts";
import {
  addBits,
  keepWanted,
  marksOf,
  rowsWithCode,
} from "../../../../../src/storage/files/audit/index/row-set.ts";
import { noBits, RowSet } from "../../../../../src/storage/files/audit/index/row-set.ts";
import { TextBuffer } from "../../../../../src/storage/files/audit/index/text-buffer.ts";
import {
  bitsOf,
  runsWith,
  trigramSlices,
} from "../../../../../src/storage/files/audit/index/trigrams.ts";
import { partsOf } from "../../../../support/parts-of.ts";

test("the rows that have a code are the same from a search, from bits and from a list", () => {
  const gaps = fc.array(fc.constantFrom(1, 2, 31, 33, 5_000), { maxLength: 100, size: "max" });
  fc.assert(
    fc.property(gaps, fc.nat(40), (steps, tail) => {
      const expected: number[] = [];
      for (const step of steps) expected.push((expected.at(-1) ?? -1) + step);
      const rows = (expected.at(-1) ?? 0) + 1 + tail;
      const column = new Uint16Array(rows + 10).fill(1, rows); // beyond the rows, as in a growing column
      for (const row of expected) column[row] = 1;
      const all = Uint32Array.from({ length: rows }, (_, row) => row);
      const bits = noBits(rows);
      finish(addBits(bits, column, marksOf([1], 3), rows));
      assert.deepEqual([...rowsWithCode(column, 1, rows)], expected);
      assert.deepEqual([...keepWanted(all, column, marksOf([1], 3))], expected);
      assert.deepEqual([...finish(finish(RowSet.ofBits(bits)).toList())], expected);
    }),
    { numRuns: 200 },
  );
});

test("columns and sets are read in parts of 4,096 rows, between which other requests run", () => {
  const rows = 10 * 4_096;
  const bits = noBits(rows);
  assert.equal(partsOf(addBits(bits, new Uint16Array(rows).fill(1), marksOf([1], 1), rows)), 10);
  assert.equal(partsOf(RowSet.ofBits(bits)), 10);
  assert.equal(partsOf(finish(RowSet.ofBits(bits)).toList()), 10);
});

test("totals by combination of facets are those of the rows one by one", () => {
  const someRow = fc.record({
    kind: fc.nat(23),
    status: fc.nat(2),
    policy: fc.nat(2),
    field: fc.nat(4),
  });
  const maybe = (most: number): fc.Arbitrary<number | undefined> =>
    fc.option(fc.nat(most), { nil: undefined });
  fc.assert(
    fc.property(
      fc.array(someRow, { minLength: 1, maxLength: 200 }),
      fc.option(fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }), { nil: undefined }),
      maybe(2),
      maybe(2),
      maybe(4),
      (rows, wanted, status, policy, code) => {
        const codes = Uint8Array.from(rows, ({ field }) => field);
        const found = countFacets(
          Uint8Array.from(rows, ({ kind }) => kind),
          Uint8Array.from(rows, (row) => row.status),
          Uint8Array.from(rows, (row) => row.policy),
          rows.length,
        );
        assert.ok(found !== undefined);
        const { keys, column } = found;
        const table = countByFacets(column, keys.facets.length, codes, 4);
        const facets = wanted && Uint8Array.from(wanted, Number);
        const expected = rows.filter(
          (row) =>
            (facets === undefined || facets[row.kind] === 1) &&
            (status === undefined || row.status === status) &&
            (policy === undefined || row.policy === policy) &&
            (code === undefined || row.field === code),
        ).length;
        assert.ok(table !== undefined);
        const counts = code === undefined ? keys.counts : table;
        assert.equal(matchingCount(keys, { facets, status, policy }, counts, code), expected);
      },
    ),
    { numRuns: 200 },
  );
});

test("a segment with too many combinations has no counts, and a table that would be large is left out", () => {
  const rows = 2_000;
  const statuses = Uint16Array.from({ length: rows }, (_, row) => row);
  const policies = new Uint16Array(rows);
  assert.equal(countFacets(new Uint8Array(rows), statuses, policies, rows), undefined);
  assert.equal(countByFacets(new Uint16Array(rows), 100, statuses, 5_000), undefined);
});

/** The texts, encoded as those of a segment, and the filters over them. */
function filtered(texts: readonly string[]) {
  const buffer = new TextBuffer();
  for (const text of texts) buffer.addLowerCased(text);
  return { ends: buffer.ends, slices: finish(trigramSlices(buffer)) };
}

test("every text that contains another is in a run of blocks that the filters leave", () => {
  for (const count of [0, 1, 255, 256, 257, 3_000, 9_000]) {
    const texts = Array.from({ length: count }, (_, i) => `git push ${i * i} ${i % 7}x`);
    const { ends, slices } = filtered(texts);
    for (const needle of ["", "gi", "git", "push 4", "sh 900 4", "7x", " 1x", "none of them"]) {
      const left = new Set<number>();
      for (const { first, end } of runsWith(slices, ends, bitsOf(Buffer.from(needle)))) {
        for (let text = first; (ends[text - 1] ?? 0) < end; text++) left.add(text);
      }
      assert.ok([...left].every((text) => text < count));
      texts.forEach((text, i) => assert.ok(!text.includes(needle) || left.has(i), needle));
    }
  }
});

test("filters rule out the blocks without a text", () => {
  const { ends, slices } = filtered(Array.from({ length: 5_000 }, (_, i) => `ls ${i}`));
  const needle = Buffer.from("ls 4999");
  assert.deepEqual(
    [...runsWith(slices, ends, bitsOf(needle))],
    [{ first: 4_864, end: ends.at(-1) }],
  );
  assert.deepEqual([...runsWith(slices, ends, bitsOf(Buffer.from("rm -rf")))], []);
});

test("a long text uses a limited number of bits, and is found by them", () => {
  const text = Array.from({ length: 5_000 }, (_, i) => String(i * i)).join(" ");
  const bits = bitsOf(Buffer.from(text));
  assert.ok(bits.length <= 256, String(bits.length));
  const { ends, slices } = filtered([text]);
  assert.deepEqual([...runsWith(slices, ends, bits)], [{ first: 0, end: ends[0] }]);
});

test("a set of rows returns the marked rows, few or many, and knows which rows it contains", () => {
  for (const isMarked of [
    () => false,
    () => true,
    (row: number) => row % 97 === 31,
    (row: number) => row % 3 === 0,
    (row: number) => row === 999,
  ]) {
    const rows = Array.from({ length: 1_000 }, (_, row) => row).filter(isMarked);
    const codes = Uint16Array.from(
      { length: 1_100 },
      (_, row) => (row % 7) * 2 + Number(isMarked(row)),
    );
    const bits = noBits(1_000);
    finish(addBits(bits, codes, Uint8Array.of(0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0), 1_000));
    finish(addBits(bits, codes, Uint8Array.of(0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1), 1_000));
    const set = finish(RowSet.ofBits(bits));
    assert.deepEqual([...finish(set.toList())], rows);
    assert.equal(set.count, rows.length);
    assert.ok(set.bytes < 600);
    const some = Uint32Array.of(999, 30, 31, 32, 0, 128);
    assert.deepEqual([...set.among(some)], [...some].filter(isMarked));
  }
});
