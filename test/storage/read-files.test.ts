import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ReadFiles } from "../../src/storage/read-files.ts";
import { makeDurableDirectory } from "../../src/storage/directories.ts";
import { ForgetfulFiles } from "../support/forgetful-files.ts";

async function filesWith(names: readonly string[], bytes: Buffer): Promise<ForgetfulFiles> {
  const files = new ForgetfulFiles();
  await makeDurableDirectory(files, "/data", "/");
  for (const name of names) {
    const descriptor = await files.open(`/data/${name}`, "w");
    await files.write(descriptor, bytes, 0);
    await files.close(descriptor);
  }
  return files;
}

/** A clock that stands still, so that no read is slow on a loaded machine. */
const atRest = (): number => 0;

const BYTES = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i % 251));

test("only a range that was read before is read synchronously", async () => {
  const files = await filesWith(["a"], BYTES);
  const reads = new ReadFiles(files, 256, atRest);
  const target = Buffer.alloc(100);
  assert.equal(reads.isAtHand("/data/a", 10, 100), false);
  const first = reads.read("/data/a", target, 10);
  assert.ok(first instanceof Promise);
  await first;
  assert.equal(reads.isAtHand("/data/a", 50, 100), true);
  assert.equal(reads.isAtHand("/data/a", 4_050, 100), false);
  assert.equal(reads.read("/data/a", target, 50), undefined);
  assert.deepEqual(target, BYTES.subarray(50, 150));
  await reads.close();
  assert.equal(files.descriptors, 0);
});

test("after a slow read its range counts as not read, and after two in a row the whole file", async () => {
  const files = await filesWith(["a", "b"], BYTES);
  let elapsed = 0;
  let perRead = 0;
  const reads = new ReadFiles(files, 256, () => (elapsed += perRead));
  const target = Buffer.alloc(100);
  const places = [0, 5_000, 10_000];
  const atHand = (): boolean[] => places.map((place) => reads.isAtHand("/data/a", place, 100));
  for (const place of places) await reads.read("/data/a", target, place);
  await reads.read("/data/b", target, 0);
  assert.equal(reads.read("/data/a", target, 0), undefined);
  assert.deepEqual(atHand(), [true, true, true]);
  perRead = 3;
  assert.equal(reads.read("/data/a", target, 0), undefined);
  assert.deepEqual(atHand(), [false, true, true]);
  perRead = 0;
  assert.equal(reads.read("/data/a", target, 5_000), undefined);
  perRead = 3;
  assert.equal(reads.read("/data/a", target, 5_000), undefined);
  assert.deepEqual(atHand(), [false, false, true]);
  assert.equal(reads.read("/data/a", target, 10_000), undefined);
  assert.deepEqual(atHand(), [false, false, false]);
  assert.equal(reads.isAtHand("/data/b", 0, 100), true);
  for (const place of places) await reads.read("/data/a", target, place);
  assert.deepEqual(atHand(), [true, true, true]);
  await reads.close();
});

test("files stay open up to the limit, and the least recently read one is closed", async () => {
  const names = Array.from({ length: 9 }, (_, i) => `file-${i}`);
  const files = await filesWith(names, BYTES);
  const reads = new ReadFiles(files, 3, atRest);
  const target = Buffer.alloc(10);
  for (const name of names) {
    await reads.read(`/data/${name}`, target, 0);
    await reads.read("/data/file-0", target, 0);
  }
  await turn();
  assert.equal(files.descriptors, 3);
  assert.equal(reads.isAtHand("/data/file-0", 0, 10), true);
  assert.equal(reads.isAtHand("/data/file-1", 0, 10), false);
  await reads.close();
  assert.equal(files.descriptors, 0);
});

test("reads under way succeed when their file is closed meanwhile", async () => {
  const names = ["a", "b", "c", "d"];
  const files = await filesWith(names, BYTES);
  const reads = new ReadFiles(files, 1);
  const targets = names.map(() => Buffer.alloc(BYTES.length));
  await Promise.all(
    names.map(async (name, i) => reads.read(`/data/${name}`, targets[i] as Buffer, 0)),
  );
  for (const target of targets) assert.deepEqual(target, BYTES);
  const reading = reads.read("/data/a", targets[0] as Buffer, 0);
  await reads.forget("/data/a");
  await reading;
  await reads.close();
  assert.equal(files.descriptors, 0);
});

test("opening a file is retried after a failure, and a file that is too short is reported", async () => {
  const files = await filesWith(["a"], BYTES);
  const reads = new ReadFiles(files);
  const target = Buffer.alloc(10);
  await assert.rejects(async () => reads.read("/data/late", target, 0), { code: "ENOENT" });
  const descriptor = await files.open("/data/late", "w");
  await files.write(descriptor, BYTES, 0);
  await files.close(descriptor);
  await reads.read("/data/late", target, 0);
  await assert.rejects(async () => reads.read("/data/a", target, 19_995), /ends at byte 20000/);
  await reads.close();
});
