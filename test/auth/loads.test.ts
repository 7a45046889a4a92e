import assert from "node:assert/strict";
import { test } from "node:test";
import { Loads } from "../../src/auth/loads.ts";

function setUp() {
  let ms = 1_800_000_000_000;
  return { loads: new Loads(() => ms), advance: (by: number) => void (ms += by) };
}

test("a cost adds up, and halves every minute", () => {
  const { loads, advance } = setUp();
  loads.add("a", 100);
  loads.add("a", 100);
  assert.equal(loads.of("a"), 200);
  advance(60_000);
  assert.equal(loads.of("a"), 100);
  loads.add("a", 1);
  assert.equal(loads.of("a"), 101);
  assert.equal(loads.of("b"), 0);
});

test("a cost near zero counts as zero", () => {
  const { loads, advance } = setUp();
  loads.add("a", 1);
  advance(7 * 60_000);
  assert.equal(loads.of("a"), 0);
});

test("a clock that is set back does not increase costs", () => {
  const { loads, advance } = setUp();
  loads.add("a", 8);
  advance(-3_600_000);
  assert.equal(loads.of("a"), 8);
});

test("beyond the limit the oldest keys are dropped, so memory stays bounded", () => {
  const { loads } = setUp();
  loads.add("a", 1);
  loads.add("b", 1);
  loads.add("a", 1);
  for (let i = 0; i < 19_999; i++) loads.add(String(i), 1);
  assert.equal(loads.of("b"), 0);
  assert.equal(loads.of("a"), 2);
});
