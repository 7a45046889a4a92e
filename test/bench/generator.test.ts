import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeHistory } from "../../bench/generate.ts";
import { arrivals, HISTORY_END, reports } from "../../bench/generator.ts";
import { idOf, storedLine } from "../../bench/stored-line.ts";
import { ingestEvent } from "../../src/audit/ingest.ts";
import { DAY_MS } from "../../src/core/clock.ts";

const EVENTS = 20_000;
const history = [...arrivals({ events: EVENTS })];

test("the same seed gives the same events, another seed gives others", () => {
  assert.deepEqual([...reports({ events: 50 })], [...reports({ events: 50 })]);
  assert.notDeepEqual([...reports({ events: 50 })], [...reports({ events: 50, seed: 2 })]);
});

test("arrivals never go backwards and fill the requested days", () => {
  const times = history.map(({ at }) => at);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
  assert.ok((times[0] ?? 0) - (HISTORY_END - 90 * DAY_MS) < DAY_MS);
  assert.ok(HISTORY_END - (times.at(-1) ?? 0) < 2 * DAY_MS);
});

test("a tenth of the events is up to a minute late", () => {
  const lateness = history.map(({ at, report }) => at - Date.parse(report.timestamp));
  const late = lateness.filter((ms) => ms > 0);
  assert.ok(Math.abs(late.length / EVENTS - 0.1) < 0.01);
  assert.ok(Math.max(...late) <= 60_000);
  assert.ok(Math.min(...lateness) === 0);
});

test("about one event in twelve is denied, and says why", () => {
  const denied = history.filter(({ report }) => report.policy_decision === "DENIED");
  assert.ok(Math.abs(denied.length / EVENTS - 0.08) < 0.02, String(denied.length / EVENTS));
  assert.ok(denied.every(({ report }) => report.reason));
});

test("people, agents and pipelines report, a few of them most of the events", () => {
  const counts = new Map<string, number>();
  for (const { report } of history) {
    counts.set(report.executor, (counts.get(report.executor) ?? 0) + 1);
  }
  const sorted = [...counts.values()].sort((a, b) => b - a);
  const busiest = sorted.slice(0, 40).reduce((sum, count) => sum + count, 0);
  assert.ok(counts.size > 350 && counts.size <= 400, String(counts.size));
  assert.ok(busiest / EVENTS > 0.5);
  assert.deepEqual(new Set(history.map(({ report }) => report.consumer)).size, 3);
});

test("a stored line equals the result of the rules of ingest", () => {
  for (const [index, arrival] of history.entries()) {
    const context = {
      organization: "default",
      now: arrival.at,
      ids: () => idOf(arrival.at, index),
    };
    const report: unknown = JSON.parse(JSON.stringify(arrival.report));
    const expected = JSON.stringify(ingestEvent(report, "", context));
    assert.equal(storedLine(arrival, index), expected);
  }
});

test("a history is written as numbered segments of whole lines", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const written = writeHistory(directory, { events: 3_000 });
  const audit = join(directory, "organizations", "default", "audit");
  assert.deepEqual(readdirSync(audit), ["000000000001.jsonl"]);
  const lines = readFileSync(join(audit, "000000000001.jsonl"), "utf8").split("\n");
  assert.equal(lines.pop(), "");
  assert.equal(lines.length, 3_000);
  assert.equal(written.events, 3_000);
  const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
  assert.equal(new Set(ids).size, 3_000);
});
