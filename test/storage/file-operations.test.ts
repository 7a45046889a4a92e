import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { systemFiles } from "../../src/storage/file-operations.ts";

async function newRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-files-"));
  t.after(() => rm(root, { recursive: true }));
  return root;
}

test("a directory is created with its parents, for its owner only; an existing one is not changed", async (t) => {
  const root = await newRoot(t);
  const path = join(root, "a", "b", "c");
  await Promise.all([1, 2, 3].map(() => systemFiles.makeDirectory(path, 0o700)));
  await systemFiles.makeDirectory(path, 0o755);
  for (const made of [join(root, "a"), path]) assert.equal((await stat(made)).mode & 0o777, 0o700);
  await symlink(path, join(root, "link"));
  await systemFiles.makeDirectory(join(root, "link"), 0o700);
  await systemFiles.makeDirectory("/", 0o700);
});

test("a directory at the path of a file or of a dangling link is refused", async (t) => {
  const root = await newRoot(t);
  await writeFile(join(root, "file"), "");
  await symlink(join(root, "nothing"), join(root, "link"));
  const make = (name: string) => systemFiles.makeDirectory(join(root, name), 0o700);
  await assert.rejects(make("file"), { code: "EEXIST" });
  await assert.rejects(make("link"), { code: "EEXIST" });
  await assert.rejects(make("file/below/it"), { code: "ENOTDIR" });
  await assert.rejects(make("link/below"), { code: "EEXIST" });
});

test(
  "a directory that cannot be created below an existing one is refused, without an endless loop",
  { skip: !existsSync("/proc/self") && "there is no /proc here" },
  async () => {
    await assert.rejects(systemFiles.makeDirectory("/proc/signalbox", 0o700), { code: "ENOENT" });
    await assert.rejects(systemFiles.makeDirectory("/proc/signalbox/data", 0o700), {
      code: "ENOENT",
    });
  },
);
