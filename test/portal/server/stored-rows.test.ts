/** Rows of a store, and the commands of events, are read in parts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "../../../src/core/scheduling/work.ts";
import { differentCommands } from "../../../src/portal/server/rule-routes.ts";
import { rowsIn, rowsOf } from "../../../src/portal/server/stored-rows.ts";
import { partsOf } from "../../support/parts-of.ts";

const ROWS = [
  { id: "a", command: 'echo "},{" \\', labels: { one: ["x", { y: 1 }], two: [] } },
  { id: "b", command: String.raw`}]\\"\", { [`, note: "🌍 ," },
  {},
];
const BYTES = Buffer.from(ROWS.map((row) => JSON.stringify(row)).join(","));

test("rows are read one by one, however their bytes arrive", () => {
  assert.deepEqual(finish(rowsIn([BYTES])), ROWS);
  assert.deepEqual(finish(rowsIn([])), []);
  for (const length of [1, 2, 3, 7]) {
    const parts = Array.from({ length: Math.ceil(BYTES.length / length) }, (_, i) =>
      BYTES.subarray(i * length, (i + 1) * length),
    );
    assert.deepEqual(finish(rowsIn(parts)), ROWS, String(length));
  }
  assert.ok(partsOf(rowsIn([BYTES])) >= ROWS.length);
});

test("long texts of rows are cut", async () => {
  const json = Buffer.from(JSON.stringify({ command: "x".repeat(2_000) }));
  assert.deepEqual(await rowsOf(json), [{ command: `${"x".repeat(1_000)}…` }]);
  assert.deepEqual(await rowsOf(Buffer.alloc(0)), []);
});

test("the different commands of many events are found in parts", () => {
  const timestamp = "2026-11-20T20:30:00.000Z";
  const events = Array.from({ length: 500 }, (_, i) => ({
    ...{ id: `e${i}`, organization_id: "default", timestamp, ingested_at: timestamp },
    ...({ consumer: "human", ai: false, status: "ok" } as const),
    ...{ command: `git push ${i % 2}`, executor: "é".repeat(1_000) },
  }));
  const { different, numbers } = finish(differentCommands(events));
  assert.deepEqual(
    different.map(({ command }) => command),
    ["git push 0", "git push 1"],
  );
  assert.deepEqual(numbers.slice(0, 4), [0, 1, 0, 1]);
  assert.ok(partsOf(differentCommands(events)) >= events.length);
});
