import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Fits, fitting } from "../../../src/fleet/filter.ts";
import type { FleetQuery, StoredRuntime } from "../../../src/fleet/store.ts";
import type { FleetRows } from "../../../src/storage/files/fleet-index.ts";
import { FleetSearches } from "../../../src/storage/files/fleet-search.ts";

function rowsOf(count: number): FleetRows {
  const rows = Array.from({ length: count }, (_, i): StoredRuntime => ({
    name: String(i),
    last_seen: i,
  }));
  return {
    total: count,
    slice: (from, to, fits) =>
      rows.slice(from, to).filter((row) => !fits || fits(row, row.last_seen)),
  };
}

const every = (n: number): Fits | undefined =>
  n === 1 ? undefined : (_, lastSeen) => lastSeen % n === 0;

test("a page has the right part of the fitting runtimes, wherever slices end", async () => {
  const rows = rowsOf(3_210);
  const place = fc.oneof(fc.nat(5), fc.integer({ min: 990, max: 2_010 }), fc.nat(4_000));
  const limits = fc.oneof(place, fc.constant(Infinity));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), limits, place, async (n, limit, offset) => {
      const fits = every(n);
      const all = rows.slice(0, rows.total, fits);
      const page = await new FleetSearches().page({ rows: () => rows }, { fits, limit, offset });
      assert.equal(page.total, all.length);
      assert.deepEqual(
        page.runtimes.map(({ name }) => name),
        all.slice(offset, offset + limit).map(({ name }) => name),
      );
    }),
    { numRuns: 50 },
  );
});

test("without a test, only the rows of the page are read", async () => {
  const taken: number[][] = [];
  const rows = rowsOf(50_000);
  const watched: FleetRows = {
    total: rows.total,
    slice(from, to) {
      taken.push([from, to]);
      return rows.slice(from, to);
    },
  };
  const fleet = {
    rows(most?: number): FleetRows {
      assert.equal(most, 40_200);
      return watched;
    },
  };
  const part = { fits: undefined, limit: 200, offset: 40_000 };
  const { total } = await new FleetSearches().page(fleet, part);
  assert.deepEqual([taken, total], [[[40_000, 40_200]], 50_000]);
});

test("other work is done while a large fleet is searched, and a search can be aborted", async () => {
  const gone = new AbortController();
  let looked = 0;
  const fits = (): boolean => {
    // Every hundredth row takes longer than a slice of work may, so a fast machine does not look at more rows.
    if (looked++ % 100 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return false;
  };
  setImmediate(() => gone.abort(new Error("left")));
  const fleet = { rows: () => rowsOf(100_000) };
  const part = { fits, limit: 1, offset: 0 };
  const search = new FleetSearches().page(fleet, part, gone.signal);
  await assert.rejects(search, { message: "left" });
  assert.ok(looked < 1_000, String(looked));
});

test("a search of long and hostile texts lets other work be done", async () => {
  const long = "a".repeat(1_024);
  const fits = fitting({ q: `${"a".repeat(250)}b${"a".repeat(250)}` } as FleetQuery);
  const rows = rowsOf(3_000);
  const slice: FleetRows["slice"] = (from, to) =>
    rows
      .slice(from, to)
      .filter((row) => fits?.({ ...row, hostname: long, os: long, version: long }, 0));
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const start = process.cpuUsage();
  const page = { fits, limit: 1, offset: 0 };
  const fleet = { rows: () => ({ total: rows.total, slice }) };
  const { total } = await new FleetSearches().page(fleet, page);
  const { user, system } = process.cpuUsage(start);
  isOver = true;
  assert.equal(total, 0);
  // Each of 3 slices took 80 ms.
  assert.ok(turns > 15 && user + system < 1_000_000, `${turns} turns, ${user + system} µs`);
});

test("searches of one fleet run one after another, even after a failed one", async () => {
  const begun: string[] = [];
  const rows = rowsOf(2_500);
  const searches = new FleetSearches();
  const fleetOf = (organization: string) => ({
    rows() {
      begun.push(organization);
      if (organization === "broken") throw new Error("broken");
      return rows;
    },
  });
  const search = (organization: string, signal?: AbortSignal) =>
    searches.page(fleetOf(organization), { fits: every(2), limit: 1, offset: 0 }, signal);
  const gone = new AbortController();
  const [first, broken, left, last] = [
    search("first"),
    search("broken"),
    search("left", gone.signal),
    search("last"),
  ];
  const plain = await searches.page(fleetOf("plain"), { fits: undefined, limit: 1, offset: 0 });
  assert.deepEqual([plain.total, begun], [2_500, ["plain", "first"]]);
  gone.abort(new Error("left"));
  const refused = [
    assert.rejects(broken, { message: "broken" }),
    assert.rejects(left, { message: "left" }),
  ];
  assert.equal((await first).total, 1_250);
  await Promise.all(refused);
  assert.equal((await last).total, 1_250);
  assert.deepEqual(begun, ["plain", "first", "broken", "last"]);
});
