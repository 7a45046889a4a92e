import assert from "node:assert/strict";
import { test } from "node:test";
import type { ActivityFilter } from "../../src/activity/filter.ts";
import type { ActivityEntry } from "../../src/activity/schema.ts";
import type { ActivityStore } from "../../src/activity/store.ts";
import { formatTimestamp } from "../../src/core/time.ts";

/** The time of the first entry in these tests. */
export const T0 = Date.parse("2026-11-20T20:30:00.000Z");

/** A store over a place that is empty at first; `reopen` opens the same place as after a restart. */
export interface ActivityEngine {
  readonly store: ActivityStore;
  reopen(): Promise<ActivityEngine>;
}

/** The `n`th entry of an organization, a minute after the one before. */
export function entryOf(n: number, fields: Partial<ActivityEntry> = {}): ActivityEntry {
  return {
    id: `e${n}`,
    organization_id: "default",
    timestamp: formatTimestamp(T0 + n * 60_000),
    actor: { kind: "user", id: "u1", email: "ada@example.com" },
    address: "192.0.2.1",
    request_id: `r${n}`,
    surface: "v1",
    action: "policy.publish",
    target: { type: "policy", id: `v${n}` },
    outcome: "done",
    ...fields,
  };
}

/** The entries on a page, and the number of all that match. */
export async function pageOf(
  store: ActivityStore,
  filter: ActivityFilter = {},
  limit = 100,
  offset = 0,
  organization = "default",
): Promise<{ readonly entries: readonly ActivityEntry[]; readonly total: number }> {
  const { json, returned, total } = await store.page(organization, filter, limit, offset);
  const pieces: Buffer[] = [];
  if (Buffer.isBuffer(json)) pieces.push(json);
  else for await (const piece of json) pieces.push(piece);
  const entries = JSON.parse(`[${Buffer.concat(pieces).toString("utf8")}]`) as ActivityEntry[];
  assert.equal(returned, entries.length);
  return { entries, total };
}

/** The ids on a page, and the number of all that match. */
export async function idsOf(
  store: ActivityStore,
  filter: ActivityFilter = {},
  limit = 100,
  offset = 0,
  organization = "default",
): Promise<readonly [ids: string, total: number]> {
  const { entries, total } = await pageOf(store, filter, limit, offset, organization);
  return [entries.map(({ id }) => id).join(" "), total];
}

/** The tests that every engine's activity log passes. */
export function activityStoreSuite(engineName: string, open: () => Promise<ActivityEngine>): void {
  const it = (name: string, body: (engine: ActivityEngine) => Promise<void>): void => {
    void test(`${engineName}: ${name}`, async () => body(await open()));
  };

  it("an organization without changes has no entries", async ({ store }) => {
    assert.deepEqual(await idsOf(store), ["", 0]);
  });

  it("entries are returned as they were appended, even after a restart", async (engine) => {
    const first = entryOf(1, { before: { active: "" }, after: { active: "é\n\u2028" } });
    const second = entryOf(2, { actor: { kind: "anonymous" }, target: { type: "settings" } });
    await engine.store.append("default", first);
    await engine.store.append("default", second);
    assert.deepEqual((await pageOf(engine.store)).entries, [second, first]);
    const { store } = await engine.reopen();
    assert.deepEqual(await pageOf(store), {
      entries: [second, first],
      total: 2,
    });
  });

  it("pages start at the newest entry, and count all matching ones", async ({ store }) => {
    for (let n = 1; n <= 7; n++) await store.append("default", entryOf(n));
    assert.deepEqual(await idsOf(store, {}, 3), ["e7 e6 e5", 7]);
    assert.deepEqual(await idsOf(store, {}, 3, 3), ["e4 e3 e2", 7]);
    assert.deepEqual(await idsOf(store, {}, 3, 6), ["e1", 7]);
    assert.deepEqual(await idsOf(store, {}, 1, 7), ["", 7]);
    assert.deepEqual(await idsOf(store, {}, 1, Number.MAX_SAFE_INTEGER), ["", 7]);
    assert.deepEqual(await idsOf(store, { target: "v4" }, 1), ["e4", 1]);
    assert.deepEqual(await idsOf(store, { target: "v9" }), ["", 0]);
  });

  it("a search ends with its reader", async ({ store }) => {
    await store.append("default", entryOf(1));
    const left = AbortSignal.abort(new Error("left"));
    await assert.rejects(
      async () => store.page("default", { q: "publish" }, 10, 0, left),
      /^Error: left$/,
    );
    assert.deepEqual(await idsOf(store, { q: "publish" }), ["e1", 1]);
  });

  it("entries appended concurrently are all stored, in their order", async ({ store }) => {
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    await Promise.all(numbers.map((n) => store.append("default", entryOf(n))));
    const wanted = numbers.reverse().map((n) => `e${n}`);
    assert.deepEqual(await idsOf(store), [wanted.join(" "), 50]);
  });

  it("organizations do not see each other's entries", async ({ store }) => {
    await store.append("default", entryOf(1));
    await store.append("acme", entryOf(2, { organization_id: "acme" }));
    assert.deepEqual(await idsOf(store), ["e1", 1]);
    assert.deepEqual(await idsOf(store, {}, 10, 0, "acme"), ["e2", 1]);
    assert.deepEqual(await idsOf(store, {}, 10, 0, "other"), ["", 0]);
  });
}
