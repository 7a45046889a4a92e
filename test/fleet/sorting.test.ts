import assert from "node:assert/strict";
import { test } from "node:test";
import { inSlices } from "../../src/fleet/listing.ts";
import { fleetOrder } from "../../src/fleet/order.ts";
import { sortedPage } from "../../src/fleet/sorting.ts";
import type { StoredRuntime } from "../../src/fleet/store.ts";

test("a sorted list waits for at most one turn of the event loop for each slice of its runtimes", async (t) => {
  const fleet = Array.from({ length: 10_000 }, (_, i): StoredRuntime => ({
    name: `runtime-${(i * 7_919) % 10_000}`,
    last_seen: i,
  }));
  let slices = 0;
  async function* counted() {
    for await (const slice of inSlices(fleet)) {
      slices++;
      yield slice;
    }
  }
  let turns = 0;
  let isCounting = true;
  t.after(() => (isCounting = false));
  const count = (): void => {
    turns++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const order = fleetOrder("name", { now: 0, assignedTo: () => "" });
  const { runtimes, total } = await sortedPage(counted(), order, 3, 0);
  assert.equal(total, fleet.length);
  assert.deepEqual(
    runtimes.map(({ name }) => name),
    ["runtime-0", "runtime-1", "runtime-2"],
  );
  assert.ok(slices >= 10, `${slices}`);
  assert.ok(turns <= slices + 1, `${turns} turns for ${slices} slices`);
});
