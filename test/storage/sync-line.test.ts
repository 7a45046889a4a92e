import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemFiles } from "../../src/storage/file-operations.ts";

test("reads go on while more syncs hang than Node has threads", { timeout: 30_000 }, async (t) => {
  const folder = fs.mkdtempSync(join(tmpdir(), "signalbox-syncs-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const order: number[] = [];
  // Opening a pipe holds a thread until the other end is opened.
  const hang = (descriptor: number, done: (error: Error | null) => void): void =>
    fs.open(pipe, "r", (error, opened) => {
      order.push(descriptor);
      if (opened !== undefined) fs.closeSync(opened);
      done(error);
    });
  t.mock.method(fs, "fdatasync", hang);
  t.mock.method(fs, "fsync", hang);
  syncBuiltinESMExports();
  const syncs = [0, 1, 2, 3, 4, 5].map((descriptor) =>
    descriptor % 2 === 0
      ? new Promise((resolve) => systemFiles.fdatasync(descriptor, resolve))
      : systemFiles.fsync(descriptor),
  );
  let writer: number | undefined;
  const release = (): void => void (writer ??= fs.openSync(pipe, "r+")); // both ends, so it does not wait
  t.signal.addEventListener("abort", release);
  t.after(release);
  assert.deepEqual(await systemFiles.readDirectory(folder), ["pipe"]);
  assert.deepEqual(order, []);
  release();
  await Promise.all(syncs);
  assert.deepEqual([...order].sort(), [0, 1, 2, 3, 4, 5]);
  if (writer !== undefined) fs.closeSync(writer);
  t.mock.restoreAll();
  syncBuiltinESMExports();
});
