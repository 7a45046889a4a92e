import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { IDLE_MS, ONLINE_MS } from "../../../src/fleet/status.ts";
import { SeenOrder } from "../../../src/storage/files/seen-order.ts";

type Step =
  | { readonly kind: "add"; readonly wait: number }
  | { readonly kind: "touch" | "remove"; readonly pick: number; readonly wait: number }
  | { readonly kind: "count"; readonly offset: number };

const wait = fc.oneof(
  fc.integer({ min: 0, max: ONLINE_MS / 2 }),
  fc.integer({ min: 0, max: IDLE_MS / 2 }),
);
const pick = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), wait }),
  fc.record({ kind: fc.constantFrom("touch" as const, "remove" as const), pick, wait }),
  fc.record({
    kind: fc.constant("count" as const),
    offset: fc.oneof(
      fc.integer({ min: -ONLINE_MS, max: 3 * ONLINE_MS }),
      fc.integer({ min: -IDLE_MS, max: 3 * IDLE_MS }),
    ),
  }),
);

test("order and counts equal those of a list that is sorted every time", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const present = new Set<number>();
      const order = new SeenOrder((slot, isPresent) => {
        assert.equal(present.has(slot), !isPresent);
        if (isPresent) present.add(slot);
        else present.delete(slot);
      });
      let model: { slot: number; lastSeen: number }[] = []; // the last one touched first
      let now = 0;
      for (const taken of steps) {
        if (taken.kind === "count") {
          const at = now + taken.offset;
          const seenWithin = (ms: number) =>
            model.filter(({ lastSeen }) => at - lastSeen < ms).map(({ slot }) => slot);
          assert.equal(order.online(at), seenWithin(ONLINE_MS).length);
          assert.equal(order.present(at), seenWithin(IDLE_MS).length);
          assert.deepEqual(present, new Set(seenWithin(IDLE_MS)));
          continue;
        }
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
    }),
  );
});

test("sorting puts the latest first, and keeps the order of equal times", () => {
  const order = new SeenOrder();
  const [a, b, c] = [order.add(5), order.add(9), order.add(5)];
  order.sort();
  assert.deepEqual(Array.from(order.copy().slots), [b, c, a]);
});
