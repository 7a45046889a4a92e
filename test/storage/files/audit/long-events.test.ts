import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import type { AuditEvent } from "../../../../src/audit/schema.ts";
import type { FileOperations } from "../../../../src/storage/file-operations.ts";
import { FileAuditStore } from "../../../../src/storage/files/audit.ts";
import { makeDurableDirectory } from "../../../../src/storage/directories.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { listPosition, streamPosition } from "../../../../src/audit/positions.ts";
import {
  append,
  auditEventOf,
  eventsIn,
  Follower,
  ORGANIZATION,
} from "../../../audit/store-suite.ts";
import { NO_ROW, type GlobalRow } from "../../../../src/storage/files/audit/index/segment-index.ts";
import { ForgetfulFiles } from "../../../support/forgetful-files.ts";
import { silent as log } from "../../../support/silent-log.ts";

const KIB = 1024;
const LONG = 600 * KIB;
/** A place before all events. */
const LAST_PLACE = {
  timestamp: Date.parse("9999-12-31T23:59:59.999Z"),
  row: Number.MAX_SAFE_INTEGER as GlobalRow,
};

/** A store with six events of 600 KiB, and the size of its largest read. */
async function storeOfLongEvents(t: TestContext) {
  const files = new ForgetfulFiles();
  const read = { atOnce: 0, now: 0 };
  const counted = new Proxy<FileOperations>(files, {
    get(target, name: keyof FileOperations) {
      const own = target[name] as (...args: unknown[]) => Promise<unknown>;
      if (name !== "read") return own.bind(target);
      return async (...args: readonly unknown[]) => {
        const length = args.find((arg) => arg instanceof Uint8Array)?.length ?? 0;
        read.now += length;
        read.atOnce = Math.max(read.atOnce, read.now);
        try {
          return await own.apply(target, [...args]);
        } finally {
          read.now -= length;
        }
      };
    },
  });
  const layout = new Layout("/data");
  await makeDurableDirectory(files, layout.organization(ORGANIZATION).audit, "/");
  const options = { layout, now: () => 0, log, durability: "sync", segmentBytes: 1 << 30 } as const;
  const store = new FileAuditStore({ ...options, files: counted });
  t.after(() => store.close());
  const events: AuditEvent[] = [];
  for (let i = 0; i < 6; i++) {
    const event = auditEventOf({ command: `${i} ${"x".repeat(LONG)}` });
    await append(store, [event]);
    events.push(event);
  }
  read.atOnce = 0;
  return { store, events, read };
}

test("a page of long events comes in pieces, each read on demand", async (t) => {
  const { store, events, read } = await storeOfLongEvents(t);
  const { json, returned, total } = await store.page(ORGANIZATION, {}, 100, 0);
  assert.deepEqual([returned, total, Buffer.isBuffer(json)], [6, 6, false]);
  assert.deepEqual(await eventsIn(json), [...events].reverse());
  assert.ok(read.atOnce > 0 && read.atOnce <= 64 * KIB, `${read.atOnce}`);
});

test("a page of short texts is complete, and its long events are read once", async (t) => {
  const { store, events, read } = await storeOfLongEvents(t);
  const expected = [...events]
    .reverse()
    .map((event) => ({ ...event, command: `${event.command?.slice(0, 100)}…` }));
  for (const isFirst of [true, false]) {
    read.atOnce = 0;
    const short = [undefined, 100] as const;
    const pages = [
      await store.page(ORGANIZATION, {}, 100, 0, ...short),
      await store.page(ORGANIZATION, {}, 100, listPosition(LAST_PLACE), ...short),
    ];
    for (const { json, returned } of pages) {
      assert.ok(Buffer.isBuffer(json) && json.length < 6_000);
      assert.deepEqual([returned, await eventsIn(json)], [6, expected]);
    }
    assert.ok(read.atOnce <= 64 * KIB, `${read.atOnce}`);
    assert.equal(read.atOnce > 0, isFirst);
  }
});

test("a page that is not read to its end keeps no file", async (t) => {
  const { store } = await storeOfLongEvents(t);
  const { json } = await store.page(ORGANIZATION, {}, 100, 0);
  assert.ok(!Buffer.isBuffer(json));
  const pieces = json[Symbol.asyncIterator]();
  assert.equal((await pieces.next()).done, false);
  await pieces.return?.();
  await store.close();
});

test("a tail that begins in the past reads few long events at a time", async (t) => {
  const { store, events, read } = await storeOfLongEvents(t);
  const follower = await Follower.of(store, {}, streamPosition(NO_ROW));
  assert.deepEqual(await follower.stop(events.length), events);
  assert.ok(read.atOnce > 0 && read.atOnce <= 1_024 * KIB, `${read.atOnce}`);
});

test("other work is done while a cached page or export is read", async (t) => {
  const { store } = await storeOfLongEvents(t);
  for (const read of [
    async () => (await store.page(ORGANIZATION, {}, 100, 0)).json,
    async () => (await store.export(ORGANIZATION, {})).rows,
  ]) {
    let turns = 0;
    const count = (): void => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const json = await read();
    assert.ok(!Buffer.isBuffer(json));
    for await (const piece of json) {
      // A reader that takes half a millisecond for a piece.
      for (const since = performance.now(); performance.now() - since < 0.6;);
      assert.ok(piece.length > 0);
    }
    clearImmediate(counting);
    assert.ok(turns >= 6, String(turns));
  }
});
