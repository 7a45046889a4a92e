import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { systemError } from "../support/forgetful-files.ts";
import { append, disk, FIRST, hold, open, SECOND, settle, startAppends } from "./log-on-disk.ts";

test("with durability `write` an append is answered before its sync, which follows by itself", async () => {
  const files = await disk();
  const log = await open(files);
  const synced = new Promise<string>((resolve) => {
    files.before = (operation) => {
      if (operation === "fdatasync") resolve(operation);
    };
  });
  const held = hold(files);
  await append(log, "a\n", "write");
  assert.equal(held.length, 0);
  files.held = undefined;
  const alive = setInterval(() => {}, 1_000); // the log's own timer does not keep a process alive
  await synced;
  clearInterval(alive);
  await log.close();
});

test("text that was answered without a sync survives the failure of a later sync", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  await append(log, "a\n", "write");
  const ended = await startAppends(log, ["b"]);
  held[0]?.end(systemError("EIO")); // the page of both texts is clean and lost now
  await settle();
  assert.deepEqual(ended, ["b EIO"]);
  assert.equal(files.powerCut(() => 0).text(FIRST), "a\n");
});

test("text that was answered without a sync is written again when its own sync failed", async () => {
  const files = await disk();
  const log = await open(files, undefined, { full: (size) => size > 0 });
  await append(log, "a\n", "write");
  const held = hold(files);
  const next = append(log, "b\n"); // the first file is full, and synced before the log rolls
  await settle();
  files.held = undefined;
  held[0]?.end(systemError("EIO"));
  assert.equal((await next).sequence, 2);
  const after = files.powerCut(() => 0);
  assert.deepEqual([after.text(FIRST), after.text(SECOND)], ["a\n", "b\n"]);
});

test("with durability `write` an answer does not wait for a sync under way", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const ended = await startAppends(log, ["a", "b", "c", "d", "e"]);
  assert.equal(held.length, 4, "no descriptor is free");
  await append(log, "written\n", "write");
  await append(log, "more\n", "write");
  assert.deepEqual(ended, []);
  assert.equal(files.text(FIRST), "a\nb\nc\nd\nwritten\nmore\n");
  for (const sync of held.splice(0)) sync.end();
  await settle();
  for (const sync of held.splice(0)) sync.end();
  await settle();
  assert.deepEqual(ended, ["a stored", "b stored", "c stored", "d stored", "e stored"]);
  files.held = undefined;
  await log.close();
  assert.equal(files.powerCut(() => 0).text(FIRST), "a\nb\nc\nd\nwritten\nmore\ne\n");
});

test("with durability `write` an answer does not wait for the sync that follows by itself", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  await append(log, "a\n", "write");
  const alive = setInterval(() => {}, 1_000);
  while (held.length === 0) await turn();
  clearInterval(alive);
  await append(log, "b\n", "write");
  assert.equal(held.length, 1);
  files.held = undefined;
  held[0]?.end();
  await log.close();
  assert.equal(files.powerCut(() => 0).text(FIRST), "a\nb\n");
});

test("text that was written during an earlier sync keeps its place when that sync fails", async () => {
  const files = await disk();
  const log = await open(files);
  await append(log, "first\n");
  const held = hold(files);
  const ended = await startAppends(log, ["refused", "later"]);
  const place = await append(log, "kept\n", "write");
  const behind = await startAppends(log, ["behind"]);
  assert.deepEqual(log.committed, [FIRST, place.offset + place.length]);
  files.held = undefined;
  held[0]?.end(systemError("EIO"));
  held[1]?.end();
  held[2]?.end();
  await settle();
  assert.deepEqual([...ended, ...behind], ["refused EIO", "later EIO", "behind EIO"]);
  await append(log, "next\n", "write");
  await log.close();
  const after = files.powerCut(() => 0);
  assert.equal(after.text(FIRST), `first\n${"\n".repeat(14)}kept\n`);
  assert.equal(place.offset, 20);
  assert.equal(after.text(SECOND), "next\n");
});

test("an append with a sync does not overtake an earlier append without a sync", async () => {
  const files = await disk();
  const log = await open(files);
  const long = `${"x".repeat(1 << 20)}\n`; // fills a block, so that the next text begins another
  const written = [append(log, long, "write"), append(log, "report\n", "write")];
  await Promise.all([append(log, "removal\n"), ...written]);
  assert.ok(files.text(FIRST).endsWith("report\nremoval\n"));
  await log.close();
});

test("closing syncs text that was answered without a sync", async () => {
  const files = await disk();
  const log = await open(files);
  await append(log, "a\n", "write");
  await log.close();
  assert.equal(files.powerCut(() => 0).text(FIRST), "a\n");
});
