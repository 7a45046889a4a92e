/** Removed segments stay for the answers that read them, within bounds; then the answers are cut. */
import assert from "node:assert/strict";
import { request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { auditExportRoutes } from "../../../../src/audit/export-routes.ts";
import { auditRoutes } from "../../../../src/audit/routes.ts";
import type { AuditExport } from "../../../../src/audit/store.ts";
import { ExportTickets } from "../../../../src/audit/tickets.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/core/clock.ts";
import { createIds } from "../../../../src/core/ids.ts";
import { createLog } from "../../../../src/core/log.ts";
import { Turns } from "../../../../src/core/scheduling/turns.ts";
import type { Route } from "../../../../src/http/route.ts";
import { CSV_PIECES } from "../../../../src/shared-limits.ts";
import { Leases } from "../../../../src/storage/files/audit/leases.ts";
import { FileAuditStore, type FileAuditOptions } from "../../../../src/storage/files/audit.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { append, auditEventOf, NOON, ORGANIZATION } from "../../../audit/store-suite.ts";
import { serve, until } from "../../../http/serve.ts";
import { ForgetfulFiles } from "../../../support/forgetful-files.ts";
import { silent } from "../../../support/silent-log.ts";

const DIRECTORY = new Layout("/data").organization(ORGANIZATION).audit;
const REMOVED = /removed while they were read/;
/** Each event fills a segment, and a piece of an export. */
const MESSAGE = "x".repeat(50_000);

function openStore(t: TestContext, options: Partial<FileAuditOptions> = {}) {
  const files = new ForgetfulFiles();
  let time = NOON;
  const now = () => time;
  const store = new FileAuditStore({
    ...{ files, layout: new Layout("/data"), now, log: silent },
    ...{ durability: "sync", segmentBytes: MESSAGE.length, ...options },
  });
  t.after(() => store.close());
  let stored = 1_000;
  return {
    store,
    now,
    advance: (ms: number) => (time += ms),
    /** Stores events, each one hour after the one before. */
    async add(count: number, message = MESSAGE) {
      for (let i = 0; i < count; i++) {
        const ingested_at = new Date(NOON + (stored - 1_000) * HOUR_MS).toISOString();
        await append(store, [auditEventOf({ id: `event-${stored++}`, message, ingested_at })]);
      }
    },
    /** Removes the segments of the first events. */
    retain: (events: number) => store.retain(ORGANIZATION, NOON + events * HOUR_MS),
    export: () => store.export(ORGANIZATION, {}),
    /** Waits until as many segments are left. */
    async left(segments: number) {
      for (;;) {
        const names = await files.readDirectory(DIRECTORY);
        const count = names.filter((name) => name.endsWith(".jsonl")).length;
        if (count <= segments) return assert.equal(count, segments);
        await new Promise(setImmediate);
      }
    },
  };
}

async function rowsOf({ rows }: AuditExport): Promise<number> {
  let text = "";
  for await (const piece of rows) text += piece.toString("utf8");
  return text.split("\n").length - 1;
}

test("an export keeps the segments that were removed while an earlier one was read", async (t) => {
  const { add, retain, left, ...app } = openStore(t);
  await add(6);
  const first = await app.export();
  await retain(1);
  const second = await app.export();
  await retain(3);
  first.rows.close();
  await left(5);
  await retain(4);
  assert.equal(await rowsOf(second), 5);
  await left(2);
});

for (const answer of ["export", "page"] as const) {
  test(`a removal during the search of a long ${answer} waits until it has been read`, async (t) => {
    const { store, add, retain, left } = openStore(t);
    await add(6);
    const asking =
      answer === "export"
        ? store.export(ORGANIZATION, {}).then(({ rows }) => rows)
        : store.page(ORGANIZATION, {}, 100, 0).then(({ json }) => json);
    await retain(3);
    const pieces = (await asking) as AsyncIterable<Buffer>;
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    let text = "";
    for await (const piece of pieces) text += piece.toString("utf8");
    assert.equal(text.match(/"event-\d+"/g)?.length, 6);
    await left(3);
  });
}

test("while a removal waits for a reader, those that remove nothing more do not wait behind it", async (t) => {
  const { add, retain, left, ...app } = openStore(t);
  await add(3);
  const slow = await app.export();
  await retain(1);
  const waits = t.mock.method(Leases.prototype, "remove");
  for (let hour = 0; hour < 10; hour++) await retain(1);
  assert.equal(waits.mock.callCount(), 0);
  slow.rows.close();
  await left(2);
});

test("a removal that fails behind a reader is logged, and repeated by the next one", async (t) => {
  const lines: string[] = [];
  const log = createLog("error", Date.now, (line) => void lines.push(line));
  let failures = 1;
  const removing = async (_: string, names: readonly string[]) => {
    if (failures-- > 0) throw new Error("the disk is full");
    return names;
  };
  const { add, retain, left, ...app } = openStore(t, { log, removing });
  await add(3);
  const slow = await app.export();
  await retain(1);
  assert.deepEqual(lines, []);
  slow.rows.close();
  await until(() => lines.length > 0);
  assert.match(lines.join(), /old audit events could not be removed.*the disk is full/);
  await retain(1);
  await left(2);
});

test("the counts of a moment are made anew once a counted segment was removed", async (t) => {
  const { store, add, retain } = openStore(t);
  await add(3);
  const before = await store.activity(ORGANIZATION, NOON);
  await retain(1);
  const ingested_at = new Date(NOON + 3 * HOUR_MS).toISOString();
  await append(store, [
    auditEventOf({ id: "last", provider: "other", message: MESSAGE, ingested_at }),
  ]);
  const { commands, byProvider } = await store.activity(ORGANIZATION, NOON);
  assert.equal(commands, before.commands);
  assert.deepEqual(new Map(byProvider).get("other"), 1);
});

test("an export keeps half as much again as may be stored, and is cut by the next trim beyond it", async (t) => {
  const { store, add, left, ...app } = openStore(t);
  await add(4);
  const { bytes } = await store.usage(ORGANIZATION);
  // The last segment is counted without the end of its last line.
  const trim = () => store.trim(ORGANIZATION, { events: Infinity, bytes: bytes + 1 });
  const slow = await app.export();
  const reading = slow.rows[Symbol.asyncIterator]();
  await add(2);
  await trim();
  await trim(); // two of four segments
  assert.equal((await reading.next()).done, false);
  await add(1);
  await trim(); // three of four, and the time until the next trim
  assert.equal((await reading.next()).done, false);
  const later = await app.export();
  await left(7);
  await trim();
  await assert.rejects(reading.next(), REMOVED);
  await left(4);
  assert.equal(await rowsOf(later), 4);
});

test("retention cuts an export that has kept removed segments for a day", async (t) => {
  const { add, retain, left, advance, ...app } = openStore(t);
  await add(4);
  const slow = await app.export();
  const reading = slow.rows[Symbol.asyncIterator]();
  advance(DAY_MS); // before anything was removed
  await retain(1);
  advance(DAY_MS - 1);
  await retain(2);
  assert.equal((await reading.next()).done, false);
  const later = await app.export();
  advance(1);
  await retain(2);
  await assert.rejects(reading.next(), REMOVED);
  await left(2);
  assert.equal(await rowsOf(later), 2);
});

/** Opens an answer and leaves it unread. */
function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, resolve).once("error", reject).end();
  });
}

for (const answer of ["export", "export?format=csv", "?limit=40"]) {
  test(`${answer} is cut although its reader takes nothing`, async (t) => {
    const { store, now, add, left } = openStore(t);
    await add(24, "x".repeat(1 << 20)); // more than the system takes
    const services = {
      ...{ audit: store, exportTickets: new ExportTickets(now), now },
      ...{ csvTurns: new Turns(CSV_PIECES), longRowTurns: new Turns(CSV_PIECES) },
      ...{ ids: createIds(now), maxBatchEvents: 100 },
    };
    const rows = [...auditRoutes, ...auditExportRoutes] as readonly Route<never>[];
    const app = await serve(t, rows as readonly Route<unknown>[], {
      services,
      resolveCaller: () => ({ organization: ORGANIZATION, actor: undefined }),
    });
    const path = answer.startsWith("?") ? answer : `/${answer}`;
    const unread = await open(`${app.url}/api/public/audit${path}`);
    t.after(() => unread.destroy());
    assert.equal(unread.statusCode, 200);
    await until(() => (app.requests[0]?.socket.writableLength ?? 0) > 0);
    const trim = () => store.trim(ORGANIZATION, { events: 1, bytes: 1 });
    await trim();
    await trim();
    await until(() => app.requests[0]?.socket.destroyed === true);
    await left(1);
    assert.match(String(app.summaries.at(-1)?.error), REMOVED);
  });
}
