import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { Layout } from "../../src/storage/layout.ts";
import { acquireLock } from "../../src/storage/lock.ts";
import { removeStrays } from "../../src/storage/strays.ts";
import { start } from "../support/start.ts";

const now = (): number => 0;

test("a start removes all unfinished temporary files, and nothing else", async (t) => {
  const app = await start(t);
  await app.post("/api/public/policies", { version: "v1", yaml: "a: 1" });
  await app.post("/api/public/audit", { command: "ls" });
  await app.close();
  const layout = new Layout(app.dataDir);
  const { root, lock, secret } = layout;
  const { users, policyIndex, fleetSnapshot, audit } = layout.organization("default");
  const before = await readdir(root, { recursive: true });
  const strays = [
    `${secret}.17-1.tmp`,
    `${lock}.0123456789abcdef01234567.tmp`,
    `${users}.17-2.tmp`,
    `${policyIndex}.17-3.tmp`,
    `${fleetSnapshot}.tmp`,
    join(audit, "000000000001.idx.17-4.tmp"),
  ];
  for (const path of strays) await writeFile(path, "{");
  await app.open();
  await app.close();
  assert.deepEqual((await readdir(root, { recursive: true })).sort(), before.sort());
});

test("a waiting process reports that the lock is taken, even if its own file was removed", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "signalbox-strays-"));
  t.after(() => rm(root, { recursive: true }));
  const layout = new Layout(root);
  const late = {
    ...systemFiles,
    async link(from: string, to: string): Promise<void> {
      await acquireLock(systemFiles, layout, now);
      await removeStrays(systemFiles, layout);
      return systemFiles.link(from, to);
    },
  };
  await assert.rejects(acquireLock(late, layout, now), /is in use by/);
  assert.equal(JSON.parse(await readFile(layout.lock, "utf8")).pid, process.pid);
});

test("a directory that is not an organization's is left alone", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "signalbox-strays-"));
  t.after(() => rm(root, { recursive: true }));
  const foreign = join(root, "organizations", "Not An Id", "a.tmp");
  await mkdir(dirname(foreign), { recursive: true });
  await writeFile(foreign, "");
  await removeStrays(systemFiles, new Layout(root));
  assert.equal(await readFile(foreign, "utf8"), "");
});
