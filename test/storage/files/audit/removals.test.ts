/** Removed segments stay for the answers that read them. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { AuditExport } from "../../../../src/audit/store.ts";
import { HOUR_MS } from "../../../../src/core/clock.ts";
import { FileAuditStore } from "../../../../src/storage/files/audit.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { append, auditEventOf, NOON, ORGANIZATION } from "../../../audit/store-suite.ts";
import { ForgetfulFiles } from "../../../support/forgetful-files.ts";
import { silent } from "../../../support/silent-log.ts";

const DIRECTORY = new Layout("/data").organization(ORGANIZATION).audit;
/** Each event fills a segment, and a piece of an export. */
const MESSAGE = "x".repeat(50_000);

function openStore(t: TestContext) {
  const files = new ForgetfulFiles();
  const store = new FileAuditStore({
    ...{ files, layout: new Layout("/data"), now: () => NOON, log: silent },
    ...{ durability: "sync", segmentBytes: MESSAGE.length },
  });
  t.after(() => store.close());
  let stored = 1_000;
  return {
    store,
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
