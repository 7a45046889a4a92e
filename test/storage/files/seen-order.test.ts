import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SeenOrder } from "../../../src/storage/files/seen-order.ts";

type Step =
  | { readonly kind: "add"; readonly wait: number }
  | { readonly kind: "touch" | "remove"; readonly pick: number; readonly wait: number };

const wait = fc.nat(3);
const pick = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), wait }),
  fc.record({ kind: fc.constantFrom("touch" as const, "remove" as const), pick, wait }),
);

test("the order equals that of a list, and free slots were never seen", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const order = new SeenOrder();
      let model: { slot: number; lastSeen: number }[] = []; // the last one touched first
      let now = 0;
      for (const taken of steps) {
        now += taken.wait;
        if (taken.kind === "add") {
          model.unshift({ slot: order.add(now), lastSeen: now });
          continue;
        }
        const picked = model[taken.pick % Math.max(1, model.length)];
        if (!picked) continue;
        model = model.filter((row) => row !== picked);
        if (taken.kind === "remove") order.remove(picked.slot);
        else {
          order.touch(picked.slot, now);
          model.unshift({ slot: picked.slot, lastSeen: now });
        }
      }
      const copy = order.copy();
      const walked = Array.from(copy.slots, (slot, i) => ({ slot, lastSeen: copy.lastSeen[i] }));
      assert.deepEqual(walked, model);
      assert.equal(new Set(walked.map(({ slot }) => slot)).size, model.length);
      assert.equal(order.times.filter((time) => time > -Infinity).length, model.length);
    }),
  );
});

test("sorting puts the latest first, and keeps the order of equal times", () => {
  const order = new SeenOrder();
  const [a, b, c] = [order.add(5), order.add(9), order.add(5)];
  order.sort();
  assert.deepEqual(Array.from(order.copy().slots), [b, c, a]);
});
