/** Retention between a query and the first piece of its answer: the files stay until they are read. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { recordingRows } from "../../../../src/activity/recording.ts";
import { RecordedChanges } from "../../../../src/activity/unit-of-work.ts";
import { auditExportRoutes } from "../../../../src/audit/export-routes.ts";
import { auditRoutes } from "../../../../src/audit/routes.ts";
import { ExportTickets } from "../../../../src/audit/tickets.ts";
import { DAY_MS, SECOND_MS } from "../../../../src/core/clock.ts";
import { createIds } from "../../../../src/core/ids.ts";
import { createLog } from "../../../../src/core/log.ts";
import type { Route } from "../../../../src/http/route.ts";
import { FileAuditStore } from "../../../../src/storage/files/audit.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { append, auditEventOf, eventsIn, NOON, ORGANIZATION } from "../../../audit/store-suite.ts";
import { serve, until } from "../../../http/serve.ts";
import { ForgetfulFiles } from "../../../support/forgetful-files.ts";

const EVENTS = 40;
const EXPORT = "/api/v1/audit/export";
const DIRECTORY = new Layout("/data").organization(ORGANIZATION).audit;
const silent = createLog(
  "silent",
  () => NOON,
  () => {},
);

async function openStore(t: TestContext) {
  const files = new ForgetfulFiles();
  const store = new FileAuditStore({
    ...{ files, layout: new Layout("/data"), now: () => NOON, log: silent },
    ...{ durability: "sync", segmentBytes: 100_000 },
  });
  t.after(() => store.close());
  const message = "x".repeat(64 * 1024); // two events in a segment, and a page of several pieces
  for (let n = 1; n < EVENTS; n++) await append(store, [auditEventOf({ message })]);
  const young = { message, ingested_at: new Date(NOON + DAY_MS).toISOString() };
  await append(store, [auditEventOf(young)]);
  return {
    store,
    /** Removes every segment except the active one. */
    retain: () => store.retain(ORGANIZATION, NOON + DAY_MS),
    async segments() {
      const names = await files.readDirectory(DIRECTORY);
      return names.filter((name) => name.endsWith(".jsonl")).length;
    },
  };
}

/** Serves exports and pages; `entry` runs while the activity entry is written. */
async function serveExports(t: TestContext, entry: () => Promise<unknown>) {
  const opened = await openStore(t);
  const now = () => NOON;
  const services = {
    ...{ audit: opened.store, exportTickets: new ExportTickets(now), now },
    ...{ ids: createIds(now), maxBatchEvents: 100 },
  };
  const activity = {
    async append() {
      await entry();
    },
  };
  const rows = [...auditRoutes, ...auditExportRoutes] as readonly Route<never>[];
  const recording = recordingRows(rows as readonly Route<unknown>[], {
    ...{ commit: new RecordedChanges({ activity }).commit, activity, now, ids: createIds(now) },
  });
  const caller = { kind: "key", id: "k1", name: "reader" } as const;
  const { url, requests } = await serve(t, recording, {
    services,
    resolveCaller: () => ({ organization: ORGANIZATION, actor: caller }),
  });
  return { ...opened, url, requests };
}

test("retention while an export's activity entry is written removes nothing from the export", async (t) => {
  let removed = 0;
  const { url, retain, segments } = await serveExports(t, async () => {
    removed = (await retain())[0]?.events ?? 0;
  });
  const answer = await fetch(url + EXPORT);
  const lines = (await answer.text()).split("\n").slice(0, -1);
  assert.equal(lines.length, EVENTS);
  assert.equal(answer.headers.get("x-total-count"), String(EVENTS));
  assert.ok(removed > EVENTS / 2);
  while ((await segments()) > 1) await new Promise(setImmediate);
});

test("a refused export, or a HEAD request for one, keeps no file", async (t) => {
  let failure: Error | undefined = new Error("no room");
  const { url, retain, segments } = await serveExports(t, () =>
    failure ? Promise.reject(failure) : Promise.resolve(),
  );
  assert.equal((await fetch(url + EXPORT)).status, 500);
  failure = undefined;
  assert.equal((await fetch(url + EXPORT, { method: "HEAD" })).status, 200);
  assert.equal((await fetch(`${url}/api/v1/audit?limit=40`, { method: "HEAD" })).status, 200);
  await retain();
  assert.equal(await segments(), 1);
});

test("an export whose client leaves before the first piece keeps no file", async (t) => {
  const left = new AbortController();
  const { url, retain, segments, requests } = await serveExports(t, () => {
    left.abort();
    return until(() => requests.every(({ socket }) => socket.destroyed));
  });
  await assert.rejects(fetch(`${url}${EXPORT}?format=csv`, { signal: left.signal }));
  await retain();
  while ((await segments()) > 1) await new Promise(setImmediate);
});

test("a cursor whose event was removed by retention is refused, with the advice to begin again", async (t) => {
  const { url, retain } = await serveExports(t, () => Promise.resolve());
  const list = `${url}/api/v1/audit`;
  const pageOf = async (target: string) => {
    const answer = await fetch(target);
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  const { next_cursor: old } = (await pageOf(`${list}?limit=${EVENTS / 2}`)).body;
  const { next_cursor: young } = (await pageOf(`${list}?limit=1`)).body;
  assert.equal((await pageOf(`${list}?limit=1&cursor=${old}`)).status, 200);
  await retain();
  assert.deepEqual(await pageOf(`${list}?limit=1&cursor=${old}`), {
    status: 400,
    body: { error: "cursor: the events after it were removed; begin again without it" },
  });
  assert.equal((await pageOf(`${list}?limit=1&cursor=${young}`)).status, 200);
});

test("a page that is read after retention is complete", async (t) => {
  const { store, retain, segments } = await openStore(t);
  const rows = await store.page(ORGANIZATION, {}, EVENTS, 0);
  assert.ok(!Buffer.isBuffer(rows.json));
  await retain();
  assert.equal((await eventsIn(rows.json)).length, EVENTS);
  const unread = await store.page(ORGANIZATION, {}, EVENTS, 0);
  if (!Buffer.isBuffer(unread.json)) unread.json.close();
  while ((await segments()) > 1) await new Promise(setImmediate);
});

test("a log is not closed during a removal, or it would be opened with files that are then removed", async () => {
  const files = new ForgetfulFiles();
  let now = NOON;
  let sign = (): void => {};
  const store = new FileAuditStore({
    ...{ files, layout: new Layout("/data"), now: () => now, log: silent },
    ...{ durability: "sync", segmentBytes: 100_000, maxOpen: 1 },
    removing: () => new Promise((resolve) => (sign = () => resolve(undefined))),
  });
  await append(store, [auditEventOf()]);
  const retaining = store.retain(ORGANIZATION, NOON + DAY_MS);
  for (let i = 0; i < 100; i++) await new Promise(setImmediate);
  now += 2 * SECOND_MS;
  await append(store, [auditEventOf({ organization_id: "other" })], "other"); // would close a log at rest
  const young = auditEventOf({ ingested_at: new Date(NOON + 2 * DAY_MS).toISOString() });
  await append(store, [young]);
  sign();
  await retaining;
  const rows = await store.page(ORGANIZATION, {}, 10, 0);
  assert.equal(rows.total, 1);
  assert.deepEqual(await eventsIn(rows.json), [young]);
  await store.close();
});
