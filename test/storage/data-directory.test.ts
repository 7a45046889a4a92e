import assert from "node:assert/strict";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createLog } from "../../src/core/log.ts";
import { closeToOthers } from "../../src/storage/data-directory.ts";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { Layout } from "../../src/storage/layout.ts";
import { newDirectory } from "../support/server-process.ts";

/** Starts on a directory of this mode that holds these names; returns its new mode and the log. */
async function openedWith(
  t: TestContext,
  mode: number,
  names: readonly string[],
  files = systemFiles,
) {
  const root = join(await newDirectory(t), "data");
  await mkdir(root);
  for (const name of names) await writeFile(join(root, name), "");
  await chmod(root, mode);
  let log = "";
  const write = (line: string) => void (log += line);
  await closeToOthers(
    files,
    new Layout(root),
    createLog("info", () => 0, write),
  );
  return { mode: (await stat(root)).mode & 0o7777, log };
}

test("a new directory is closed to other users", async (t) => {
  const fresh = [".gitkeep", "README.md", "lock"];
  assert.deepEqual(await openedWith(t, 0o755, fresh), { mode: 0o700, log: "" });
  assert.deepEqual(await openedWith(t, 0o2775, []), { mode: 0o2700, log: "" });
});

for (const [what, names] of [
  ["with data", ["lock", "format.json"]],
  ["of something else", ["notes.txt"]],
] as const) {
  test(`a directory ${what} keeps its mode, and the start warns`, async (t) => {
    const { mode, log } = await openedWith(t, 0o750, names);
    assert.equal(mode, 0o750);
    assert.match(log, /the data directory is open to other users: chmod 700 .*"mode":"0750"/);
  });
}

test("a directory whose mode cannot be changed causes a warning", async (t) => {
  const changeMode = () => Promise.reject(new Error("EPERM"));
  const { log } = await openedWith(t, 0o755, [], { ...systemFiles, changeMode });
  assert.match(log, /open to other users/);
});

test("a closed directory is left alone", async (t) => {
  assert.deepEqual(await openedWith(t, 0o700, ["format.json"]), { mode: 0o700, log: "" });
});
