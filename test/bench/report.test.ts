import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContestantName } from "../../bench/contestants.ts";
import type { Slice } from "../../bench/load.ts";
import { summaryTable } from "../../bench/report.ts";
import { scenarios } from "../../bench/scenarios.ts";

const SLICE = { rate: 10, p50: 1, p99: 2, cpuMicroseconds: 5, cpuShare: 1, residentBytes: 0 };

function measured(...contestants: readonly ContestantName[]) {
  const scenario = scenarios.find(({ baseline }) => baseline === "fastify + postgres");
  assert.ok(scenario);
  const slices = contestants.map(
    (name) => [name, [{ ...SLICE, othersShare: 0 } as Slice]] as const,
  );
  return { scenario, slices: new Map(slices) };
}

test("a scenario is compared with its baseline", () => {
  const table = summaryTable([measured("signalbox + postgres", "fastify + postgres")]);
  assert.match(table, /### Against fastify \+ postgres\n[^]*1\.00 \(1\.00\.\.1\.00\)/);
});

test("a scenario whose baseline did not run is left out of the summary", () => {
  assert.equal(summaryTable([measured("signalbox + postgres")]), "");
});
