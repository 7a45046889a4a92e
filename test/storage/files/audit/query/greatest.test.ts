import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { greatest } from "../../../../../src/storage/files/audit/query/greatest.ts";
import { Yielder } from "../../../../../src/core/scheduling/yielder.ts";

const someNumbers = fc.uniqueArray(
  fc.tuple(fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz"), fc.integer({ min: 1, max: 4 })),
  { selector: ([name]) => name, maxLength: 26, size: "max" },
);

test("the greatest numbers are those of a sorted list", async () => {
  await fc.assert(
    fc.asyncProperty(someNumbers, fc.integer({ min: 1, max: 30 }), async (numbers, most) => {
      const found = await greatest(numbers, most, new Yielder());
      const values = (list: typeof found): number[] =>
        list.map(([, number]) => number).sort((a, b) => b - a);
      assert.deepEqual(values(found), values(numbers).slice(0, most));
      const given = new Set(numbers);
      assert.ok(found.every((entry) => given.has(entry as [string, number])));
    }),
  );
});
