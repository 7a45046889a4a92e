import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../../src/core/log.ts";
import { FileActivity } from "../../../src/storage/files/activity.ts";
import { Layout } from "../../../src/storage/layout.ts";
import {
  activityStoreSuite,
  entryOf,
  idsOf,
  T0,
  type ActivityEngine,
} from "../../activity/store-suite.ts";
import { systemError, type ForgetfulFiles } from "../../support/forgetful-files.ts";
import { newFiles } from "./fleet-engine.ts";

const layout = new Layout("/data");
const { activityLog } = layout.organization("default");

/** A store on a disk, its clock, and what it told the log. */
function open(files: ForgetfulFiles) {
  const clock = { now: T0 };
  const lines: string[] = [];
  const now = () => clock.now;
  const log = createLog("warn", now, (line) => void lines.push(line));
  return { store: new FileActivity({ files, layout, now, log }), clock, lines };
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

activityStoreSuite("files", async () => engineOver(await newFiles()));

test("an entry is one line of JSON, and survives a power cut right after its answer", async () => {
  const files = await newFiles();
  await open(files).store.append("default", entryOf(1));
  const after = files.powerCut(() => 0);
  assert.equal(after.text(activityLog), `${JSON.stringify(entryOf(1))}\n`);
  assert.deepEqual(await idsOf(open(after).store), ["e1", 1]);
});

test("a look at an organization without entries leaves no file behind", async () => {
  const files = await newFiles();
  await idsOf(open(files).store);
  assert.deepEqual(await files.readDirectory("/data"), []);
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

test("an entry that could not be written is refused and gone, and later ones are kept", async () => {
  const files = await newFiles();
  const { store, clock, lines } = open(files);
  await store.append("default", entryOf(1));
  files.before = (operation) => {
    if (operation === "fdatasync" || operation === "open") throw systemError("EIO");
  };
  await assert.rejects(store.append("default", entryOf(2)), /EIO/);
  assert.match(String(store.failure), /EIO/);
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate); // it tries again, in vain
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

test("a log that is told to recover is written again before the next entry comes", async () => {
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

test("half an entry at the end is cut off, a damaged one in the middle left out, and both are told", async () => {
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

test("a log that cannot be opened refuses, and is tried again with the next entry", async () => {
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

test("a store that is closed takes no entries", async () => {
  const { store } = open(await newFiles());
  await store.append("default", entryOf(1));
  await store.close();
  await assert.rejects(store.append("default", entryOf(2)), /stopping/);
  await assert.rejects(store.append("acme", entryOf(3)), /stopping/);
});
