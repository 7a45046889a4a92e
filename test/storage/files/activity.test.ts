import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { DAY_MS } from "../../../src/core/clock.ts";
import { createLog } from "../../../src/core/log.ts";
import { FileActivity, type ActivityParts } from "../../../src/storage/files/activity.ts";
import { Layout } from "../../../src/storage/layout.ts";
import {
  activityStoreSuite,
  entryOf,
  idsOf,
  pageOf,
  T0,
  type ActivityEngine,
} from "../../activity/store-suite.ts";
import { systemError, type ForgetfulFiles } from "../../support/forgetful-files.ts";
import { newFiles } from "./fleet-engine.ts";

const layout = new Layout("/data");
const { activityLog } = layout.organization("default");

/** A store on a disk, its clock and its log lines. */
function open(
  files: ForgetfulFiles,
  sizes: Partial<Pick<ActivityParts, "maxBytes" | "keptEntries" | "fileBytes">> = {},
) {
  const clock = { now: T0 };
  const lines: string[] = [];
  const now = () => clock.now;
  const log = createLog("info", now, (line) => void lines.push(line));
  return { files, store: new FileActivity({ files, layout, now, log, ...sizes }), clock, lines };
}

async function engineOver(files: ForgetfulFiles): Promise<ActivityEngine> {
  const { store } = open(files);
  return {
    store,
    async reopen() {
      await store.close();
      return engineOver(files.restarted());
    },
  };
}

/** Replaces the log by one with this text. */
async function overwrite(files: ForgetfulFiles, text: string): Promise<void> {
  const { store } = open(files);
  await store.append("default", entryOf(0));
  await store.close();
  const descriptor = await files.open(activityLog, "r+");
  files.writeSync(descriptor, Buffer.from(text), 0);
  await files.close(descriptor);
}

activityStoreSuite("files", async () => engineOver(await newFiles()));

test("an entry is one line of JSON, and survives a power cut right after its answer", async () => {
  const files = await newFiles();
  await open(files).store.append("default", entryOf(1));
  const after = files.powerCut(() => 0);
  assert.equal(after.text(activityLog), `${JSON.stringify(entryOf(1))}\n`);
  assert.deepEqual(await idsOf(open(after).store), ["e1", 1]);
});

test("a query of an organization without entries creates no file", async () => {
  const files = await newFiles();
  await idsOf(open(files).store);
  assert.deepEqual(await files.readDirectory("/data"), []);
});

test("a page of long entries comes in pieces", async () => {
  const files = await newFiles();
  // Written by a version that did not bound its entries.
  const long = (n: number) => entryOf(n, { after: { filter: "x".repeat(15_000) } });
  const entries = Array.from({ length: 20 }, (_, n) => long(n));
  const text = entries.map((entry) => JSON.stringify(entry)).join("\n") + "\n";
  await overwrite(files, text);
  const { store } = open(files);
  const { json, returned, total } = await store.page("default", {}, 1_000, 0);
  assert.ok(!Buffer.isBuffer(json));
  assert.deepEqual([returned, total], [20, 20]);
  let longest = 0;
  let all = "";
  for await (const piece of json) {
    longest = Math.max(longest, piece.length);
    all += piece.toString("utf8");
  }
  assert.ok(longest <= 64 * 1_024, String(longest));
  assert.deepEqual(JSON.parse(`[${all}]`), entries.reverse());
  assert.deepEqual((await pageOf(store, {}, 2, 3)).entries, entries.slice(3, 5));
});

test("other work is done while a long log is read", async () => {
  const files = await newFiles();
  const lines = Array.from({ length: 20_000 }, (_, n) => JSON.stringify(entryOf(n)));
  await overwrite(files, `${lines.join("\n")}\n`);
  let turns = 0;
  const count = (): void => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  assert.equal((await idsOf(open(files).store, {}, 1))[1], 20_000);
  clearImmediate(counting);
  assert.ok(turns > 50, String(turns));
});

test("an entry that is not on disk yet is not shown", async () => {
  const files = await newFiles();
  const { store } = open(files);
  await store.append("default", entryOf(1));
  files.held = [];
  const second = store.append("default", entryOf(2));
  while (files.held.length === 0) await new Promise(setImmediate);
  assert.deepEqual(await idsOf(store), ["e1", 1]);
  for (const sync of files.held.splice(0)) sync.end();
  await second;
  assert.deepEqual(await idsOf(store), ["e2 e1", 2]);
});

test("an entry that could not be written is refused and removed, and later ones are stored", async () => {
  const files = await newFiles();
  const { store, clock, lines } = open(files);
  await store.append("default", entryOf(1));
  files.before = (operation) => {
    if (operation === "fdatasync" || operation === "open") throw systemError("EIO");
  };
  await assert.rejects(store.append("default", entryOf(2)), /EIO/);
  assert.match(String(store.failure), /EIO/);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate); // the retry fails, too
  files.before = () => {};
  clock.now += 1_000;
  await store.append("default", entryOf(3));
  assert.equal(store.failure, undefined);
  assert.deepEqual(await idsOf(store), ["e3 e1", 2]);
  await store.append("default", entryOf(4));
  assert.match(lines[0] ?? "", /the activity log is not written/);
  await store.close();
  assert.equal(files.descriptors, 0);
  const next = open(files.restarted()).store;
  await next.append("default", entryOf(5));
  assert.deepEqual(await idsOf(next), ["e5 e4 e3 e1", 4]);
});

test("`recover` makes the log writable before the next entry arrives", async () => {
  const files = await newFiles();
  const { store, clock } = open(files);
  await store.append("default", entryOf(1));
  files.before = (operation) => {
    if (operation === "fdatasync" || operation === "open") throw systemError("ENOSPC");
  };
  await assert.rejects(store.append("default", entryOf(2)), /ENOSPC/);
  files.before = () => {};
  for (let turn = 0; store.failure !== undefined && turn < 1_000; turn++) {
    clock.now += 1_000;
    store.recover();
    await new Promise(setImmediate);
  }
  assert.equal(store.failure, undefined);
  await store.append("default", entryOf(3));
  assert.deepEqual(await idsOf(store), ["e3 e1", 2]);
});

test("a torn entry is cut off, a damaged one is left out, and both are reported", async () => {
  const files = await newFiles();
  await open(files).store.append("default", entryOf(1));
  const again = files.restarted();
  const damage = `{"id":\n${JSON.stringify({ ...entryOf(2), actor: null })}\n${JSON.stringify(entryOf(3))}\n{"id"`;
  const { size } = await again.stat(activityLog);
  await again.write(await again.open(activityLog, "r+"), Buffer.from(damage), size);
  const { store, lines } = open(again);
  for (const check of await store.checks(["default"])) await check.run();
  assert.deepEqual(await idsOf(store), ["e3 e1", 2]);
  await store.append("default", entryOf(4));
  assert.deepEqual(await idsOf(store), ["e4 e3 e1", 3]);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? "", /cut off half an activity entry.*"bytes":5/);
  assert.match(lines[1] ?? "", /set aside damaged lines.*"lines":2/);
});

for (const name of ["address", "before", "after"]) {
  test(`an entry with null for its ${name} is damaged, since readers expect none`, async () => {
    const files = await newFiles();
    await open(files).store.append("default", entryOf(1));
    const again = files.restarted();
    const { size } = await again.stat(activityLog);
    const line = Buffer.from(`${JSON.stringify({ ...entryOf(2), [name]: null })}\n`);
    await again.write(await again.open(activityLog, "r+"), line, size);
    const { store, lines } = open(again);
    for (const check of await store.checks(["default"])) await check.run();
    assert.deepEqual(await idsOf(store), ["e1", 1]);
    assert.ok(lines.some((line) => line.includes("set aside damaged lines")));
  });
}

test("a log that cannot be opened refuses entries, and the next entry retries", async () => {
  const files = await newFiles();
  const { store } = open(files);
  files.before = (operation) => {
    if (operation === "open") throw systemError("EMFILE");
  };
  await assert.rejects(store.append("default", entryOf(1)), /EMFILE/);
  files.before = () => {};
  await store.append("default", entryOf(2));
  assert.deepEqual(await idsOf(store), ["e2", 1]);
});

test("a closed store refuses entries", async () => {
  const { store } = open(await newFiles());
  await store.append("default", entryOf(1));
  await store.close();
  await assert.rejects(store.append("default", entryOf(2)), /stopping/);
  await assert.rejects(store.append("acme", entryOf(3)), /stopping/);
});

/** Every append has a file of its own, and the newest two are never removed. */
const APART = { fileBytes: 1, keptEntries: 2 };
/** The time of the entry with a number, in milliseconds. */
const timeOf = (n: number): number => T0 + n * 60_000;

async function appendAll(store: FileActivity, numbers: readonly number[]): Promise<void> {
  for (const n of numbers) await store.append("default", entryOf(n));
}

test("a full file makes the log continue in another file, and pages read all files", async () => {
  const { files, store } = open(await newFiles(), APART);
  await appendAll(store, [1, 2, 3]);
  assert.deepEqual(await idsOf(store), ["e3 e2 e1", 3]);
  await store.close();
  assert.deepEqual(await idsOf(open(files.restarted()).store), ["e3 e2 e1", 3]);
});

test("entries older than the retention are removed, are reported, and stay removed", async () => {
  const { files, store, lines } = open(await newFiles(), APART);
  await appendAll(store, [1, 2, 3, 4]);
  await store.retain(timeOf(1));
  assert.deepEqual(await idsOf(store), ["e4 e3 e2 e1", 4]);
  await store.retain(timeOf(1) + 1);
  assert.deepEqual(await idsOf(store), ["e4 e3 e2", 3]);
  assert.match(
    lines.join(""),
    /"removed old activity entries","organization":"default","entries":1,"bytes":\d+/,
  );
  const cut = open(
    files.powerCut(() => 0),
    APART,
  ).store;
  assert.deepEqual(await idsOf(cut), ["e4 e3 e2", 3]);
  await cut.retain(timeOf(9));
  assert.deepEqual(await idsOf(cut), ["e4 e3", 2]);
});

test("a log that cannot be opened stops no other organization's retention", async () => {
  const first = open(await newFiles(), APART);
  for (const organization of ["acme", "default"]) {
    for (const n of [1, 2, 3]) await first.store.append(organization, entryOf(n));
  }
  await first.store.close();
  const { files, store, lines } = open(first.files.restarted(), APART);
  files.before = (operation, path) => {
    if (operation === "open" && path.includes("/acme/activity")) throw systemError("EIO");
  };
  await store.retain(timeOf(9));
  assert.match(lines.join(""), /"activity retention failed","organization":"acme","error":".*EIO/);
  assert.deepEqual(await idsOf(store), ["e3 e2", 2]);
});

test("by default the newest 10,000 entries stay at any age", async () => {
  const first = open(await newFiles(), APART);
  await appendAll(first.store, [1, 2]);
  await first.store.close();
  const { store } = open(first.files.restarted(), { fileBytes: Infinity });
  const appendMore = async (count: number) =>
    Promise.all(Array.from({ length: count }, () => store.append("default", entryOf(3))));
  const total = async () => (await idsOf(store, {}, 1))[1];
  await appendMore(9_998); // into the file of the second entry
  await store.retain(timeOf(9));
  assert.equal(await total(), 10_000);
  await appendMore(1);
  await store.retain(timeOf(9));
  assert.equal(await total(), 10_000);
});

test("a log beyond its limit of bytes loses its oldest entries, but not the newest two", async () => {
  const lineBytes = JSON.stringify(entryOf(1)).length + 1;
  const sizes = { ...APART, maxBytes: 3 * lineBytes };
  const { files, store } = open(await newFiles(), sizes);
  await appendAll(store, [1, 2, 3, 4]); // full when the fourth file was begun
  await store.close(); // waits for the removal
  const again = open(files.restarted(), sizes);
  assert.deepEqual(await idsOf(again.store), ["e4 e3 e2 e1", 4]);
  await appendAll(again.store, [5]);
  await again.store.close();
  const last = open(again.files.restarted(), { ...sizes, maxBytes: 1 });
  assert.deepEqual(await idsOf(last.store), ["e5 e4 e3 e2", 4]);
  await last.store.retain(T0);
  assert.deepEqual(await idsOf(last.store), ["e5 e4", 2]);
});

test("a page is complete even if files are removed while it is read", async () => {
  const { store } = open(await newFiles(), APART);
  await appendAll(store, [1, 2, 3]);
  const [page] = await Promise.all([idsOf(store), store.retain(timeOf(9))]);
  assert.deepEqual(page, ["e3 e2 e1", 3]);
  assert.deepEqual(await idsOf(store), ["e3 e2", 2]);
});

/** Stores entries of about 4 KiB each, by their numbers. */
async function appendLong(store: FileActivity, from: number, to: number): Promise<void> {
  const facts = Array.from({ length: 14 }, (_, i) => [`fact-${i}`, "x".repeat(250)] as const);
  const after = Object.fromEntries(facts);
  for (let n = from; n <= to; n++) await store.append("default", entryOf(n, { after }));
}

/** Opens a page of all entries that is read in pieces. */
async function openPage(store: FileActivity): Promise<AsyncIterator<Buffer>> {
  const { json } = await store.page("default", {}, 1_000, 0);
  assert.ok(!Buffer.isBuffer(json));
  return json[Symbol.asyncIterator]();
}

async function readOn(pieces: AsyncIterator<Buffer>): Promise<void> {
  while (!(await pieces.next()).done);
}

test("removal does not wait for a slow reader of a page, which is cut after a day", async () => {
  const { store, clock } = open(await newFiles(), APART);
  await appendLong(store, 1, 20);
  const slow = await openPage(store);
  await store.retain(timeOf(30));
  assert.deepEqual(await idsOf(store), ["e20 e19", 2]);
  clock.now += DAY_MS - 1;
  await store.retain(timeOf(30));
  assert.equal((await slow.next()).done, false);
  clock.now += 1;
  await store.retain(timeOf(30));
  await assert.rejects(readOn(slow), /removed while they were read/);
});

test("a page that keeps more than half the allowed bytes is cut by the next removal", async () => {
  const { files, store } = open(await newFiles(), { ...APART, maxBytes: 90_000 });
  await appendLong(store, 1, 20);
  const slow = await openPage(store);
  await appendLong(store, 21, 30);
  assert.equal((await slow.next()).done, false);
  const young = await openPage(store);
  await appendLong(store, 31, 40);
  await assert.rejects(readOn(slow), /removed while they were read/);
  await readOn(young);
  await store.close();
  const names = await files.readDirectory(dirname(activityLog));
  const left = names.filter((name) => name.startsWith("activity"));
  assert.ok(left.length < 30, left.join());
});
