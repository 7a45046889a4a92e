import assert from "node:assert/strict";
import { test } from "node:test";
import { writeExposition } from "../../src/metrics/exposition.ts";
import { DurationHistogram } from "../../src/metrics/histogram.ts";
import { readExposition, valueOf } from "./exposition-reader.ts";

test("durations are counted in cumulative buckets in seconds; a bound belongs to its lower bucket", () => {
  const histogram = new DurationHistogram([1, 10, 100]);
  for (const ms of [0, 1, 1.001, 10, 99, 100, 101, 5_000]) histogram.observe(ms);
  const samples = histogram.samples({ log: "audit" });
  const families = readExposition(
    writeExposition([{ name: "h", type: "histogram", help: "H.", samples }]),
  );
  const bucket = (le: string) => valueOf(families, "h_bucket", { log: "audit", le });
  assert.deepEqual(["0.001", "0.01", "0.1", "+Inf"].map(bucket), [2, 4, 6, 8]);
  assert.equal(valueOf(families, "h_count", { log: "audit" }), 8);
  assert.ok(Math.abs(valueOf(families, "h_sum", { log: "audit" }) - 5.312001) < 1e-9);
});

test("without observations a histogram has zeros", () => {
  const samples = new DurationHistogram([1]).samples({});
  assert.deepEqual(
    samples.map(({ suffix, value }) => [suffix, value]),
    [
      ["_bucket", 0],
      ["_bucket", 0],
      ["_sum", 0],
      ["_count", 0],
    ],
  );
});
