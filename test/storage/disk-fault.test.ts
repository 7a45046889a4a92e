import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { writeBackup } from "../../src/storage/backup/backup.ts";
import { describeDiskFault, faultAt } from "../../src/storage/disk-fault.ts";
import { systemFiles } from "../../src/storage/file-operations.ts";

function systemError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code}: in the system's words`), { code, ...more });
}

for (const [code, said] of [
  ["EACCES", '"/d/x" may not be read or written by this user (EACCES): run as its owner'],
  ["EPERM", '"/d/x" may not be read or written by this user (EPERM): run as its owner'],
  ["EROFS", '"/d/x" is on a read-only file system (EROFS): choose another path'],
  ["ENOSPC", '"/d/x" cannot be written, there is no space left (ENOSPC): free some'],
  ["EDQUOT", '"/d/x" cannot be written, there is no space left (EDQUOT): free some'],
  ["ENOTDIR", '"/d/x" is a file, or is inside a file (ENOTDIR): choose a directory'],
  ["EISDIR", '"/d/x" is a directory where a file is expected (EISDIR): move it away'],
  ["ENOENT", '"/d/x" does not exist and cannot be created (ENOENT): choose another path'],
  ["EMFILE", '"/d/x" cannot be opened, too many files are open (EMFILE): raise the limit'],
  ["EIO", '"/d/x" cannot be read or written by the disk (EIO): check the disk'],
] as const) {
  test(`${code} is reported with the place and the way out`, () => {
    assert.ok(describeDiskFault(systemError(code, { path: "/d/x" }))?.startsWith(said));
    assert.ok(describeDiskFault(systemError(code), "/d/x")?.startsWith(said));
    assert.ok(describeDiskFault(systemError(code, { path: "/aside" }), "/d/x")?.startsWith(said));
  });
}

test("a full disk is reported although the error of an open file names no place", () => {
  const said = "A file cannot be written, there is no space left (ENOSPC): free some space";
  assert.ok(describeDiskFault(systemError("ENOSPC"))?.startsWith(said));
});

test("an error that is not about a file keeps its text", () => {
  const other = new Error("Something else");
  for (const error of [other, "text", undefined, systemError("EACCES"), systemError("EODD")]) {
    assert.equal(describeDiskFault(error), undefined);
  }
  assert.equal(faultAt("/d", other), other);
});

test("a failed copy names the file that could not be written or read", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "signalbox-fault-"));
  t.after(() => rm(root, { recursive: true }));
  await writeFile(join(root, "secret"), "s");
  const named = [{ path: "secret", bytes: 1 }];
  const source = { directory: root, files: named, created_at: "", version: "0" };
  const to = (name: string, operations: object) =>
    writeBackup({ ...systemFiles, ...operations }, source, join(root, name));
  const fail = (code: string) => () => Promise.reject(systemError(code)); // like an error of an open file
  const { message } = (await to("full", { write: fail("ENOSPC") }).catch(
    (e: unknown) => e,
  )) as Error;
  assert.ok(message.startsWith(`"${join(root, "full", "secret")}" cannot be written`), message);
  await assert.rejects(to("unread", { read: fail("EIO") }), /^Error: "secret" cannot be read/);
  await assert.rejects(
    to("unsaid", { rename: fail("ENOSPC") }),
    /unsaid\/manifest\.json" cannot be written, there is no space left/,
  );
  assert.ok(!(await readdir(join(root, "unsaid"))).includes("manifest.json"));
});
