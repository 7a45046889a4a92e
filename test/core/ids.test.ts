import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createIds } from "../../src/core/ids.ts";

const SHAPE = /^[0-9a-hjkmnp-tv-z]{26}$/;

function take(count: number, source: () => string): string[] {
  return Array.from({ length: count }, source);
}

function assertSortedAndUnique(ids: readonly string[]): void {
  for (let i = 1; i < ids.length; i++) assert.ok((ids[i - 1] ?? "") < (ids[i] ?? ""), ids[i]);
}

test("ids are 26 digits that need no escaping anywhere", () => {
  for (const id of take(
    100,
    createIds(() => 1_790_000_000_000),
  ))
    assert.match(id, SHAPE);
});

test("ids sort in the order of creation, even if the clock jumps", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -5_000, max: 1_900_000_000_000 }), { minLength: 2 }),
      (times) => {
        let tick = 0;
        const ids = take(
          times.length * 3,
          createIds(() => times[tick++ % times.length] ?? 0),
        );
        assertSortedAndUnique(ids);
        for (const id of ids) assert.match(id, SHAPE);
      },
    ),
  );
});

test("a later millisecond sorts after an earlier one of the same source", () => {
  let now = 1_000;
  const next = createIds(() => now);
  const first = next();
  now += 1;
  const second = next();
  assert.ok(first.slice(0, 10) < second.slice(0, 10));
});

test("ids beyond the capacity of a millisecond use the next one", () => {
  const next = createIds(() => 1_790_000_000_000);
  let last = "";
  for (let i = 0; i < 32 ** 3 + 5; i++) {
    const id = next();
    if (id <= last) assert.fail(`${id} after ${last}`);
    last = id;
  }
});

test("a clock with fractions of milliseconds makes distinct ids", () => {
  let now = 1_790_000_000_000;
  assertSortedAndUnique(
    take(
      1000,
      createIds(() => (now += 0.25)),
    ),
  );
});

test("two sources at the same time make distinct ids", () => {
  const now = () => 1_790_000_000_000;
  const [left, right] = [createIds(now), createIds(now)];
  const ids = new Set([...take(1000, left), ...take(1000, right)]);
  assert.equal(ids.size, 2000);
});

test("an id reveals only time and order of the next one", () => {
  const next = createIds(() => 1_790_000_000_000);
  const random = take(2000, next).map((id) => id.slice(-13));
  assert.equal(new Set(random).size, 2000, "65 bits are drawn for each id");
  for (let place = 0; place < 13; place++) {
    const digits = new Set(random.map((id) => id[place]));
    assert.equal(digits.size, 32, `every digit occurs at place ${place}`);
  }
});
