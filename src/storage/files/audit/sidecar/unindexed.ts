import { join } from "node:path";
import { listDirectory } from "../../../directories.ts";
import type { FileOperations } from "../../../file-operations.ts";
import type { Layout } from "../../../layout.ts";
import type { LogCheck } from "../../../log-checks.ts";

/** The checks of all organizations that have events; `run` does the check of one. */
export async function checksOf(
  files: FileOperations,
  layout: Layout,
  organizations: readonly string[],
  run: (organization: string) => Promise<void>,
): Promise<readonly LogCheck[]> {
  const checks: LogCheck[] = [];
  for (const id of organizations) {
    const what = layout.organization(id).audit;
    const bytes = await unindexedBytes(files, what);
    if (bytes !== undefined) checks.push({ what, bytes, run: () => run(id) });
  }
  return checks;
}

/**
 * The bytes of an organization's events that no sidecar covers: those of the active segment, and of
 * segments without a sidecar. `undefined` when there are no segments.
 */
async function unindexedBytes(
  files: FileOperations,
  directory: string,
): Promise<number | undefined> {
  const names = await listDirectory(files, directory);
  const segments = names.filter((name) => name.endsWith(".jsonl"));
  if (segments.length === 0) return undefined;
  const indexes = new Set(names.filter((name) => name.endsWith(".idx")));
  let bytes = 0;
  for (const name of segments) {
    const isSealed = name !== segments.at(-1) && indexes.has(name.replace(".jsonl", ".idx"));
    if (!isSealed) bytes += (await files.stat(join(directory, name))).size;
  }
  return bytes;
}
