import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { replaceFile } from "../../src/guard/replace-file.ts";

test("a file is replaced without writing to where a link beside it leads", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-replace-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [path, other] = [join(folder, "settings.json"), join(folder, "other")];
  await writeFile(path, "old");
  await writeFile(other, "kept");
  const links = [`${path}.tmp`, `${path}.${process.pid}.tmp`];
  for (const link of links) await symlink(other, link);

  replaceFile(path, "new", 0o600);

  assert.equal(await readFile(path, "utf8"), "new");
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal(await readFile(other, "utf8"), "kept");
  assert.equal((await readdir(folder)).length, 2 + links.length);
});
