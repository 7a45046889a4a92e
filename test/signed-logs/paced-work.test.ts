import assert from "node:assert/strict";
import { test } from "node:test";
import { PacedWork } from "../../src/signed-logs/paced-work.ts";

/** Paced work over a clock that stands still; each run and each wait ends when the test ends it. */
function fixture() {
  const state = { now: 5_000, runs: 0 };
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const ends: (() => void)[] = [];
  const paced = new PacedWork(
    () => new Promise((resolve) => void (state.runs++, ends.push(resolve))),
    () => state.now,
    (ms) => new Promise((end) => void waits.push({ ms, end })),
  );
  return { state, waits, ends, paced };
}

const settled = () => new Promise((resolve) => void setImmediate(resolve));

test("a second run waits for the rest of the second, and all callers share it", async () => {
  const { state, waits, ends, paced } = fixture();
  const first = paced.run();
  await settled();
  ends.shift()?.();
  await first;
  state.now += 300;
  const later = Array.from({ length: 1_000 }, () => paced.run());
  await settled();
  assert.deepEqual([state.runs, waits.map(({ ms }) => ms)], [1, [700]]);
  state.now += 700;
  waits.shift()?.end();
  await settled();
  assert.equal(state.runs, 2);
  ends.shift()?.();
  await Promise.all(later);
  state.now += 1_000;
  void paced.run();
  await settled();
  assert.deepEqual([state.runs, waits.length], [3, 0]);
});

test("a call during a run gets a run of its own, which begins when that one has ended", async () => {
  const { state, ends, paced } = fixture();
  void paced.run();
  await settled();
  const calls = [paced.run(), paced.run()];
  state.now += 60_000;
  await settled();
  assert.equal(state.runs, 1);
  ends.shift()?.();
  await settled();
  assert.equal(state.runs, 2);
  ends.shift()?.();
  await Promise.all(calls);
});

test("a clock that is set back does not stop the work", async () => {
  const { state, waits, ends, paced } = fixture();
  const first = paced.run();
  await settled();
  ends.shift()?.();
  await first;
  state.now -= 4_000;
  void paced.run();
  await settled();
  assert.deepEqual([state.runs, waits.length], [2, 0]);
});
