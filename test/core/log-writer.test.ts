import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLogWriter } from "../../src/core/log-writer.ts";

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A pipe that takes 64 KiB and then returns EAGAIN, as with a reader that has stopped. */
function stalledPipe(t: TestContext): number {
  const path = join(directory(t), "pipe");
  execFileSync("mkfifo", [path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(descriptor));
  return descriptor;
}

function drain(descriptor: number): string {
  const chunks: Buffer[] = [];
  const chunk = Buffer.alloc(1 << 20);
  try {
    for (;;) {
      const count = readSync(descriptor, chunk);
      if (count === 0) break;
      chunks.push(Buffer.from(chunk.subarray(0, count)));
    }
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "EAGAIN");
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The number of lines: the written ones, and those that a line reports as dropped. */
function countOf(lines: readonly string[]): number {
  return lines
    .map((each) => (each.startsWith("{") ? (JSON.parse(each) as { dropped: number }).dropped : 1))
    .reduce((sum, each) => sum + each, 0);
}

test("lines arrive whole and in order, and flush waits for the last of them", async (t) => {
  const path = join(directory(t), "log");
  const descriptor = openSync(path, "w");
  const writer = createLogWriter(descriptor);
  const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i} äöü\n`);
  for (const line of lines) {
    writer.write(line);
    if (line.includes("00 ")) await turn();
  }
  await writer.flush();
  closeSync(descriptor);
  assert.equal(readFileSync(path, "utf8"), lines.join(""));
});

test("flush resolves at once if nothing was written", async () => {
  await createLogWriter(2).flush();
});

test("a reader that stops does not stall the writer: lines are dropped, and their count is logged", async (t) => {
  const descriptor = stalledPipe(t);
  const writer = createLogWriter(descriptor);
  const line = `${"x".repeat(1023)}\n`;
  for (let i = 0; i < 4_000; i++) {
    writer.write(line);
    if (i % 100 === 0) await turn();
  }
  const flushed = writer.flush();
  let read = "";
  const linesRead = () => read.split("\n").slice(0, -1);
  while (countOf(linesRead()) < 4_000) {
    read += drain(descriptor);
    await turn();
  }
  await flushed;
  const lines = linesRead();
  const told = lines.filter((each) => each !== line.trimEnd());
  assert.equal(countOf(lines), 4_000);
  const kept = lines.length - told.length;
  assert.ok(kept < 4_000);
  assert.match(told[0] ?? "", /"level":"warn","message":"log lines were dropped"/);
  assert.ok(
    told.every((each) => each.startsWith("{")),
    "a line was torn",
  );
});

test("flush gives up after a second without a reader", { timeout: 120_000 }, async (t) => {
  const descriptor = stalledPipe(t);
  const writer = createLogWriter(descriptor);
  writer.write("x".repeat(200_000));
  await writer.flush();
  // A pipe takes 64 KiB, and as much again for each write that is under way while it is read.
  let read = drain(descriptor);
  assert.ok(read.length >= 65_536 && read.length < 200_000, String(read.length));
  while (read.length < 200_000) {
    await writer.flush(); // the rest is written when the reader is back
    read += drain(descriptor);
  }
  assert.equal(read, "x".repeat(200_000));
});

test("a disconnected reader is not a failure of the service", async (t) => {
  const path = join(directory(t), "pipe");
  execFileSync("mkfifo", [path]);
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const descriptor = openSync(path, constants.O_WRONLY);
  closeSync(readEnd);
  const writer = createLogWriter(descriptor);
  writer.write("nobody reads this\n");
  await writer.flush();
  writer.write("nor this\n");
  await writer.flush();
  closeSync(descriptor);
});
