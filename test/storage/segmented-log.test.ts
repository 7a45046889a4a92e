import assert from "node:assert/strict";
import test from "node:test";
import { DAY_MS } from "../../src/core/clock.ts";
import { makeDurableDirectory } from "../../src/storage/directories.ts";
import { ReadFiles } from "../../src/storage/read-files.ts";
import { SegmentedLog, type SegmentedLogOptions } from "../../src/storage/segmented-log.ts";
import type { Slice } from "../../src/storage/segment-reader.ts";
import { ForgetfulFiles, systemError } from "../support/forgetful-files.ts";

function open(
  files: ForgetfulFiles,
  options?: Partial<SegmentedLogOptions>,
): Promise<SegmentedLog> {
  return SegmentedLog.open({
    files,
    reads: new ReadFiles(files),
    now: () => 0,
    directory: "/data/log",
    root: "/data",
    segmentBytes: 1 << 20,
    timeOf: (line) => Number(String(line)),
    torn: () => {},
    failed: () => {},
    ...options,
  });
}

function append(log: SegmentedLog, text: string): Promise<Slice> {
  return new Promise((resolve, reject) => {
    log.append(text, "sync", (error, segment, offset, length) => {
      if (error === null) resolve({ segment, offset, length });
      else reject(error);
    });
  });
}

async function linesOf(log: SegmentedLog, segment: number): Promise<string[]> {
  let text = "";
  await log.readManyLines(segment, (lines) => void (text += String(lines)));
  return text.split(/\s+/).filter((line) => line !== "");
}

test("segments are numbered files, and a new one begins when the last one is full", async () => {
  const files = new ForgetfulFiles();
  const log = await open(files, { segmentBytes: 4 });
  for (const text of ["1\n", "2\n", "3\n"]) await append(log, text);
  assert.deepEqual(log.segments, [1, 2]);
  assert.equal(files.text("/data/log/000000000001.jsonl"), "1\n2\n");
  assert.equal(files.text("/data/log/000000000002.jsonl"), "3\n");
  await log.close();
  assert.equal(files.descriptors, 0);
});

test("a new segment begins after a day, and a restart does not make the last one younger", async () => {
  const files = new ForgetfulFiles();
  let now = 1_000;
  let log = await open(files, { now: () => now });
  await append(log, `${now}\n`);
  now += DAY_MS - 1;
  await append(log, "young\n");
  assert.deepEqual(log.segments, [1]);
  await log.close();
  log = await open(files, { now: () => now });
  now += 1;
  await append(log, "old\n");
  assert.deepEqual(log.segments, [1, 2]);
  await log.close();
});

test("a segment that is full for another reason takes no further writes", async () => {
  let isFull = false;
  const log = await open(new ForgetfulFiles(), { isFull: () => isFull });
  await append(log, "1\n");
  isFull = true;
  await append(log, "2\n");
  assert.deepEqual(log.segments, [1, 2]);
  await log.close();
});

test("an empty segment does not age", async () => {
  const files = new ForgetfulFiles();
  let now = 0;
  const log = await open(files, { now: () => now });
  now += 3 * DAY_MS;
  await append(log, "1\n");
  assert.deepEqual(log.segments, [1]);
  await log.close();
});

test("after a restart the last segment takes the writes, and the others are found", async () => {
  const files = new ForgetfulFiles();
  let log = await open(files, { segmentBytes: 17 });
  for (const text of ["a long line, the 1\n", "2\n"]) await append(log, text);
  await log.close();
  log = await open(files, { segmentBytes: 17 });
  await append(log, "3\n");
  assert.deepEqual(await linesOf(log, 1), ["a", "long", "line,", "the", "1"]);
  assert.deepEqual(await linesOf(log, 2), ["2", "3"]);
  await log.close();
});

test("a segment of at least an eighth of the full size takes no more writes after the log is closed", async () => {
  let files = new ForgetfulFiles();
  await makeDurableDirectory(files, "/data", "/");
  let log = await open(files, { segmentBytes: 16 });
  await append(log, "1\n");
  await log.close();
  assert.equal(files.descriptors, 0);
  files = files.powerCut(() => 0);
  log = await open(files, { segmentBytes: 16 });
  assert.deepEqual(log.segments, [1, 2]);
  await append(log, "2\n");
  assert.deepEqual(await linesOf(log, 1), ["1"]);
  assert.deepEqual(await linesOf(log, 2), ["2"]);
  await log.close();
});

test("without room for a new segment at closing, the log continues in the last segment", async () => {
  const files = new ForgetfulFiles();
  let log = await open(files, { segmentBytes: 16 });
  await append(log, "1\n");
  files.before = (operation) => {
    if (operation === "open") throw systemError("ENOSPC");
  };
  await log.close();
  files.before = () => {};
  assert.equal(files.descriptors, 0);
  log = await open(files, { segmentBytes: 16 });
  await append(log, "2\n");
  assert.deepEqual(log.segments, [1]);
  assert.deepEqual(await linesOf(log, 1), ["1", "2"]);
  await log.close();
});

test("files that are not segments are left alone", async () => {
  const files = new ForgetfulFiles();
  await files.makeDirectory("/data/log");
  for (const name of ["000000000007.idx", "notes.txt", "1.jsonl"]) {
    await files.close(await files.open(`/data/log/${name}`, "w"));
  }
  const log = await open(files);
  assert.deepEqual(log.segments, [1]);
  assert.equal((await files.readDirectory("/data/log")).length, 4);
  await log.close();
});

test("slices are read in the given order, across segments, near and far", async () => {
  const files = new ForgetfulFiles();
  const log = await open(files, { segmentBytes: 100_000 });
  const slices: Slice[] = [];
  const texts = Array.from({ length: 60 }, (_, i) => `${i} ${"x".repeat(i * 200)}\n`);
  for (const text of texts) slices.push(await append(log, text));
  assert.ok(log.segments.length > 2);
  const order = texts.map((_, i) => (i * 37) % texts.length);
  const found = await log.read(order.map((i) => slices[i] as Slice));
  assert.deepEqual(
    found.map(String),
    order.map((i) => texts[i]),
  );
  await log.close();
  assert.equal(files.descriptors, 0);
});

test("a segment without an acknowledged byte is removed from the list", async () => {
  const files = new ForgetfulFiles();
  const log = await open(files);
  let fault: Error | undefined = systemError("ENOSPC");
  files.before = (operation) => {
    if (operation === "writeSync" && fault !== undefined) throw fault;
  };
  await assert.rejects(append(log, "1\n"), { code: "ENOSPC" });
  fault = undefined;
  await append(log, "2\n");
  assert.deepEqual(log.segments, [2]);
  await log.close();
});
