import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { describeDiskFault } from "../../src/storage/disk-fault.ts";
import { systemFiles } from "../../src/storage/file-operations.ts";

async function newRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-files-"));
  t.after(() => rm(root, { recursive: true }));
  return root;
}

test("a directory is created with its parents, for its owner only; an existing one is not changed", async (t) => {
  const root = await newRoot(t);
  const path = join(root, "a", "b", "c");
  await Promise.all([1, 2, 3].map(() => systemFiles.makeDirectory(path)));
  for (const made of [join(root, "a"), path]) assert.equal((await stat(made)).mode & 0o777, 0o700);
  await chmod(path, 0o755);
  await systemFiles.makeDirectory(path);
  assert.equal((await stat(path)).mode & 0o777, 0o755);
  await symlink(path, join(root, "link"));
  await systemFiles.makeDirectory(join(root, "link"));
  await systemFiles.makeDirectory("/");
});

test("a directory at the path of a file or of a dangling link is refused", async (t) => {
  const root = await newRoot(t);
  await writeFile(join(root, "file"), "");
  await symlink(join(root, "nothing"), join(root, "link"));
  const make = (name: string) => systemFiles.makeDirectory(join(root, name));
  await assert.rejects(make("file"), { code: "EEXIST" });
  await assert.rejects(make("link"), { code: "EEXIST" });
  await assert.rejects(make("file/below/it"), { code: "ENOTDIR" });
  await assert.rejects(make("link/below"), { code: "EEXIST" });
});

test(
  "a directory that cannot be created below an existing one is refused, without an endless loop",
  { skip: !existsSync("/proc/self") && "there is no /proc here" },
  async () => {
    await assert.rejects(systemFiles.makeDirectory("/proc/signalbox"), { code: "ENOENT" });
    await assert.rejects(systemFiles.makeDirectory("/proc/signalbox/data"), {
      code: "ENOENT",
    });
  },
);

test("a directory at the path of a file is refused by its name and the way out", async (t) => {
  const root = await newRoot(t);
  const error = await systemFiles.readFile(root).catch((thrown: unknown) => thrown);
  const said = `"${root}" is a directory where a file is expected (EISDIR): move it away`;
  assert.equal(describeDiskFault(error), said);
});
