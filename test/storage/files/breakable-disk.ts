import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemFiles, type FileOperations } from "../../../src/storage/file-operations.ts";
import { Layout } from "../../../src/storage/layout.ts";

/** A data directory of its own for a test, on a disk whose renames can be made to fail. */
export interface BreakableDisk {
  readonly layout: Layout;
  readonly files: FileOperations;
  /** The behaviour of renames from now on; with `fail after` they happen, but are reported as failed. */
  renames: "work" | "fail" | "fail after";
}

/** Makes a directory that is removed when the test ends. */
export async function breakableDisk(t: TestContext): Promise<BreakableDisk> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  const disk: BreakableDisk = {
    layout: new Layout(root),
    renames: "work",
    files: {
      ...systemFiles,
      async rename(from, to) {
        if (disk.renames !== "fail") await systemFiles.rename(from, to);
        if (disk.renames !== "work") throw Object.assign(new Error("I/O error"), { code: "EIO" });
      },
    },
  };
  return disk;
}
