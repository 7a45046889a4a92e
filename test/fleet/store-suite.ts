import assert from "node:assert/strict";
import { test } from "node:test";
import { TooMany } from "../../src/core/errors.ts";
import { assignedVersion } from "../../src/core/assigned-version.ts";
import { labelLength, type Labels } from "../../src/core/labels.ts";
import type { Heartbeat } from "../../src/fleet/schema.ts";
import type { FleetFilter, FleetQuery, FleetStore } from "../../src/fleet/store.ts";
import type { Kept, StoredRuntime } from "../../src/fleet/store.ts";

/** A store over a place that is empty at first; `reopen` opens the same place as after a restart. */
export interface FleetEngine {
  readonly store: FleetStore;
  reopen(): Promise<FleetEngine>;
}

const T0 = Date.parse("2026-11-20T20:30:00.000Z");
const MINUTES_15 = 15 * 60_000;
/** A query that every runtime matches. */
export const ALL: FleetQuery = { now: T0, active: "" };
const names = (runtimes: readonly StoredRuntime[]) => runtimes.map(({ name }) => name).sort();
const NOBODY = { online: 0, idle: 0, drifted: 0, total: 0 };

/** Reports, and resolves with whether the runtime was new. */
export function report(
  store: FleetStore,
  organization: string,
  heartbeat: Heartbeat,
  at = T0,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    store.heartbeat(organization, heartbeat, at, (error, isNew) => {
      if (error) reject(error as Error);
      else resolve(isNew === true);
    });
  });
}

/** All runtimes of an organization, without `undefined` fields. */
export async function all(store: FleetStore, organization: string): Promise<StoredRuntime[]> {
  return plain(await collect(store.list(organization, ALL)));
}

async function collect(given: ReturnType<FleetStore["list"]>): Promise<StoredRuntime[]> {
  const rows: StoredRuntime[] = [];
  for await (const slice of await given) rows.push(...slice);
  return rows;
}

function plain(runtimes: readonly StoredRuntime[]): StoredRuntime[] {
  return JSON.parse(JSON.stringify(runtimes)) as StoredRuntime[];
}

/** The tests that every engine's fleet passes. */
export function fleetStoreSuite(engineName: string, open: () => Promise<FleetEngine>): void {
  const it = (name: string, body: (engine: FleetEngine) => Promise<void>): void => {
    void test(`${engineName}: ${name}`, async () => body(await open()));
  };

  it("a heartbeat creates a runtime, later ones update their fields", async ({ store }) => {
    const first = { name: "a", hostname: "h1", os: "linux", version: "1", policy_version: "p1" };
    assert.equal(await report(store, "default", first, T0), true);
    assert.equal(await report(store, "default", { name: "a", version: "2" }, T0 + 5), false);
    assert.deepEqual(await all(store, "default"), [{ ...first, version: "2", last_seen: T0 + 5 }]);
  });

  it("the most recently seen comes first, the later report at equal times", async ({ store }) => {
    for (const name of ["a", "b", "c"]) await report(store, "default", { name }, T0);
    await report(store, "default", { name: "a" }, T0 + 1);
    const names = (await all(store, "default")).map(({ name }) => name);
    assert.deepEqual(names, ["a", "c", "b"]);
  });

  it("organizations do not see each other's runtimes", async ({ store }) => {
    await report(store, "default", { name: "a", os: "linux" });
    assert.equal(await report(store, "acme", { name: "a" }), true);
    assert.deepEqual(await all(store, "acme"), [{ name: "a", last_seen: T0 }]);
    assert.equal(await store.forget("acme", "a"), true);
    assert.equal((await all(store, "default")).length, 1);
  });

  it("last_seen does not go back with the clock", async ({ store }) => {
    await report(store, "default", { name: "a" }, T0);
    await report(store, "default", { name: "a" }, T0 - 60_000);
    await report(store, "default", { name: "b" }, T0 - 60_000);
    assert.deepEqual(await all(store, "default"), [
      { name: "b", last_seen: T0 },
      { name: "a", last_seen: T0 },
    ]);
  });

  it("a quota is checked with the number of runtimes, only before a new one is added", async ({
    store,
  }) => {
    const asked: number[] = [];
    const full = new TooMany("Full", 1);
    const quota = {
      refusal(used: number) {
        asked.push(used);
        return used < 2 ? undefined : full;
      },
    };
    const beat = (name: string) =>
      new Promise<unknown>((resolve) =>
        store.heartbeat("default", { name }, T0, (error) => resolve(error ?? "kept"), quota),
      );
    const answers = await Promise.all(["a", "b", "a", "c"].map(beat));
    assert.deepEqual(answers, ["kept", "kept", "kept", full]);
    assert.deepEqual(asked, [0, 1, 2]);
    assert.deepEqual([await beat("a"), await beat("c")], ["kept", full]);
    assert.deepEqual((await all(store, "default")).length, 2);
  });

  it("a label quota is checked with the length of all labels before they grow", async (engine) => {
    const asked: number[] = [];
    const full = new TooMany("Full", 1);
    const room = 2 * labelLength({ env: "live" });
    const quota = {
      refusal(used: number) {
        asked.push(used);
        return used < room ? undefined : full;
      },
    };
    let { store } = engine;
    const beat = (name: string, labels?: Labels) =>
      new Promise<unknown>((resolve) => {
        const heartbeat = { name, ...(labels && { labels }) };
        const kept: Kept = (error) => resolve(error ?? "kept");
        store.heartbeat("default", heartbeat, T0, kept, undefined, quota);
      });
    const live = { env: "live" };
    const answers = await Promise.all(["a", "b", "c"].map((name) => beat(name, live)));
    assert.deepEqual(answers, ["kept", "kept", full]);
    assert.deepEqual(asked, [room / 2 - 1, room - 1, room + room / 2 - 1]);
    ({ store } = await engine.reopen());
    assert.equal(await beat("a", { env: "lives" }), full);
    assert.deepEqual(
      [await beat("a", live), await beat("a"), await beat("c")],
      Array(3).fill("kept"),
    );
    assert.equal(await beat("a", { env: "l" }), "kept");
    assert.equal(await beat("c", live), full);
    assert.equal(await store.forget("default", "b"), true);
    assert.equal(await beat("c", live), "kept");
    assert.deepEqual(await store.labels("default", "c"), live);
    assert.equal(await beat("d", live), full);
    assert.deepEqual(names(await all(store, "default")), ["a", "c"]);
  });

  it("runtimes last seen before a moment are forgotten durably, in all organizations", async (engine) => {
    const { store } = engine;
    await Promise.all(
      Array.from({ length: 2_500 }, (_, n) => report(store, "default", { name: `old-${n}` }, T0)),
    );
    await report(store, "default", { name: "edge" }, T0 + 1);
    await report(store, "acme", { name: "old" }, T0);
    await report(store, "globex", { name: "new" }, T0 + 1);
    assert.deepEqual(await store.forgetSilent(T0), []);
    const forgotten = await store.forgetSilent(T0 + 1);
    assert.deepEqual(
      [...forgotten].sort((a, b) => a.runtimes - b.runtimes),
      [
        { organization: "acme", runtimes: 1 },
        { organization: "default", runtimes: 2_500 },
      ],
    );
    const again = (await engine.reopen()).store;
    assert.deepEqual(await all(again, "default"), [{ name: "edge", last_seen: T0 + 1 }]);
    assert.deepEqual(await all(again, "acme"), []);
  });

  it("a runtime that reports while the silent ones are forgotten stays", async ({ store }) => {
    await report(store, "default", { name: "a" }, T0);
    await report(store, "default", { name: "b" }, T0);
    const back = report(store, "default", { name: "a" }, T0 + 5);
    const forgotten = await store.forgetSilent(T0 + 1);
    await back;
    assert.deepEqual(forgotten, [{ organization: "default", runtimes: 1 }]);
    assert.deepEqual(await all(store, "default"), [{ name: "a", last_seen: T0 + 5 }]);
  });

  it("hostile names are ordinary names, even after a restart", async (engine) => {
    const names = ["__proto__", "constructor", "..", "a/b", '"},{"', "🚦".repeat(256), "z\nz"];
    for (const name of names) await report(engine.store, "default", { name, os: name }, T0);
    const { store } = await engine.reopen();
    const rows = await all(store, "default");
    assert.deepEqual(
      rows.map(({ name }) => name),
      names.toReversed(),
    );
    assert.deepEqual(
      rows.map(({ os }) => os),
      names.toReversed(),
    );
    assert.equal(await store.forget("default", "__proto__"), true);
    assert.equal(await store.forget("default", "toString"), false);
  });

  it("concurrent reports of one new runtime make one runtime", async ({ store }) => {
    const isNew = await Promise.all([
      report(store, "default", { name: "a", os: "linux" }),
      report(store, "default", { name: "a", version: "2" }),
      report(store, "default", { name: "a", os: "darwin" }),
    ]);
    assert.deepEqual(isNew, [true, false, false]);
    const expected = { name: "a", os: "darwin", version: "2", last_seen: T0 };
    assert.deepEqual(await all(store, "default"), [expected]);
  });

  it("answered reports survive a restart, in the same order", async (engine) => {
    for (const name of ["a", "b", "c"]) await report(engine.store, "default", { name, os: "x" });
    await report(engine.store, "default", { name: "b", os: "y" }, T0 + 1);
    await engine.store.forget("default", "c");
    await report(engine.store, "acme", { name: "z" });
    const before = await all(engine.store, "default");
    const next = await engine.reopen();
    assert.deepEqual(await all(next.store, "default"), before);
    assert.equal(await report(next.store, "default", { name: "a" }, T0 + 2), false);
    const after = await next.reopen();
    assert.deepEqual(
      (await all(after.store, "default")).map(({ name, os, last_seen }) => [name, os, last_seen]),
      [
        ["a", "x", T0 + 2],
        ["b", "y", T0 + 1],
      ],
    );
    assert.equal((await all(after.store, "acme")).length, 1);
  });

  it("a forgotten runtime comes back as a new one, without its former fields", async (engine) => {
    await report(engine.store, "default", { name: "a", os: "linux" });
    assert.equal(await engine.store.forget("default", "a"), true);
    assert.equal(await engine.store.forget("default", "a"), false);
    assert.deepEqual(await all(engine.store, "default"), []);
    assert.equal(await report(engine.store, "default", { name: "a", version: "2" }), true);
    const { store } = await engine.reopen();
    assert.deepEqual(await all(store, "default"), [{ name: "a", version: "2", last_seen: T0 }]);
  });

  it("counts runtimes seen less than 15 minutes ago as online", async ({ store }) => {
    assert.deepEqual(await store.counts("default", T0, { active: "" }), NOBODY);
    await report(store, "default", { name: "a" }, T0);
    await report(store, "default", { name: "b" }, T0 + 1);
    await report(store, "default", { name: "c" }, T0 + 2);
    const onlineAt = async (now: number) =>
      (await store.counts("default", now, { active: "" })).online;
    assert.equal(await onlineAt(T0 + MINUTES_15 - 1), 3);
    assert.equal(await onlineAt(T0 + MINUTES_15), 2);
    assert.equal(await onlineAt(T0 + MINUTES_15 + 2), 0);
    assert.equal(await onlineAt(T0 + MINUTES_15 + 1), 1, "the clock was set back");
    await report(store, "default", { name: "a" }, T0 + MINUTES_15 + 2);
    assert.equal(await onlineAt(T0 + MINUTES_15 + 2), 1);
    await store.forget("default", "a");
    const counts = await store.counts("default", T0 + MINUTES_15 + 2, { active: "" });
    assert.deepEqual(counts, { ...NOBODY, idle: 2, total: 2 });
  });

  it("a list stays as it was while reports continue", async ({ store }) => {
    for (const name of ["a", "b", "c", "d"]) await report(store, "default", { name }, T0);
    const rows = await store.list("default", ALL);
    await report(store, "default", { name: "a" }, T0 + 9);
    await report(store, "default", { name: "e" }, T0 + 9);
    await store.forget("default", "c");
    await report(store, "default", { name: "f" }, T0 + 9);
    const listed = (await collect(rows)).filter(({ name }) => name !== "c");
    assert.deepEqual(
      listed.map(({ name, last_seen }) => [name, last_seen]),
      [
        ["d", T0],
        ["b", T0],
        ["a", T0],
      ],
    );
  });

  it("pages and lists contain the matching runtimes, most recently seen first", async ({
    store,
  }) => {
    const later = T0 + MINUTES_15;
    await report(store, "default", { name: "old", policy_version: "v1", os: "linux" }, T0);
    for (let n = 0; n < 600; n++) {
      const policy_version = n % 2 === 0 ? "v1" : "v2";
      await report(store, "default", { name: `n${n}`, policy_version }, later);
    }
    const query = (filter: FleetFilter): FleetQuery => ({ ...filter, now: later, active: "v2" });
    const listed = async (filter: FleetFilter) =>
      (await collect(store.list("default", query(filter)))).map(({ name }) => name);
    const page = async (filter: FleetFilter, limit: number, offset: number) => {
      const { runtimes, total } = await store.page("default", query(filter), limit, offset);
      return { names: runtimes.map(({ name }) => name), total };
    };
    const all = [...Array.from({ length: 600 }, (_, n) => `n${599 - n}`), "old"];
    assert.deepEqual(await listed({}), all);
    assert.deepEqual(await page({}, 2, 599), { names: ["n0", "old"], total: 601 });
    assert.deepEqual(await page({}, Infinity, 600), { names: ["old"], total: 601 });
    assert.deepEqual(await page({}, 5, 9_000), { names: [], total: 601 });
    assert.deepEqual(await page({ status: "idle" }, 9, 0), { names: ["old"], total: 1 });
    assert.deepEqual(await page({ q: "LINUX" }, 9, 0), { names: ["old"], total: 1 });
    assert.deepEqual(await page({ name: "n0" }, 9, 0), { names: ["n0"], total: 1 });
    assert.deepEqual(await page({ name: "n" }, 9, 0), { names: [], total: 0 });
    const drifted = all.filter((name) => name === "old" || Number(name.slice(1)) % 2 === 0);
    assert.deepEqual(await listed({ drifted: "true" }), drifted);
    assert.deepEqual(await listed({ policy_version: "v1" }), drifted);
    const lastTwo = { names: ["n0", "old"], total: 301 };
    assert.deepEqual(await page({ policy_version: "v1" }, 3, 299), lastTwo);
    assert.deepEqual(await listed({ q: "none" }), []);
  });

  it("labels stay until other labels are reported, and filter the fleet", async (engine) => {
    const { store } = engine;
    const labels = { constructor: "yes", env: "staging" };
    await report(store, "default", { name: "a", labels });
    await report(store, "default", { name: "a", os: "linux" });
    await report(store, "default", { name: "b", labels: { env: "production" } });
    await report(store, "default", { name: "c" });
    const named = async (...label: string[]) =>
      (await collect(store.list("default", { ...ALL, label }))).map(({ name }) => name);
    assert.deepEqual(await named("env:staging"), ["a"]);
    assert.deepEqual(await named("constructor:yes"), ["a"]);
    assert.deepEqual(await named("env:staging", "constructor:yes"), ["a"]);
    assert.deepEqual(await named("constructor:yes", "env:production"), []);
    assert.deepEqual(await named("env:staging", "env:production"), []);
    assert.deepEqual(await named("toString:yes"), []);
    for (const odd of ["env:\0", "env:staging\0", "\0:staging"]) {
      assert.deepEqual(await named(odd), []);
    }
    assert.deepEqual(await store.labels("default", "a"), labels);
    assert.equal(await store.labels("default", "c"), undefined);
    assert.equal(await store.labels("default", "nobody"), undefined);
    assert.deepEqual([...(await store.known("default", ["c", "nobody", "a"]))].sort(), ["a", "c"]);
    await report(store, "default", { name: "b", labels: {} });
    const again = (await engine.reopen()).store;
    const { runtimes } = await again.page("default", { ...ALL, name: "a" }, 1, 0);
    assert.deepEqual(runtimes[0]?.labels, labels);
    assert.deepEqual((await again.labels("default", "b")) ?? {}, {});
  });

  it("drift during a rollout is the difference from the assigned version", async ({ store }) => {
    for (let n = 0; n < 300; n++) {
      const labels = { env: n % 3 === 0 ? "staging" : "production" };
      const policy_version = ["v1", "v2", "v0"][n % 7] ?? "v1";
      const name = n % 50 === 0 ? `odd\u0000${n}\ud800` : `n${n}`;
      await report(store, "default", { name, labels, policy_version });
    }
    for (const stages of [
      [{ percent: 20 }],
      [
        { labels: { env: "staging" }, percent: 50 },
        { names: new Set(["n1", "odd\u0000100\ud800"]) },
      ],
      [{ percent: 20 }, { percent: 60 }],
    ]) {
      const expected = { active: "v1", rollout: { id: "r1", version: "v2", stages } };
      const all = await collect(store.list("default", ALL));
      const drifted = all.filter((runtime) => {
        return runtime.policy_version !== assignedVersion(expected, runtime);
      });
      const query = { ...expected, now: T0, drifted: "true" } as const;
      const found = await collect(store.list("default", query));
      assert.deepEqual(names(found), names(drifted));
      assert.equal((await store.counts("default", T0, expected)).drifted, drifted.length);
      await report(store, "default", { name: "n2", labels: { env: "staging" } });
    }
  });

  it("a search ends when its signal fires", async ({ store }) => {
    await report(store, "default", { name: "a" });
    const signal = AbortSignal.abort(new Error("left"));
    const search = store.page("default", { ...ALL, q: "a" }, 1, 0, { gone: signal });
    await assert.rejects(search, { message: "left" });
  });
}
