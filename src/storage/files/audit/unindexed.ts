import { join } from "node:path";
import { listDirectory } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";

/**
 * How many bytes of an organization's events no index vouches for: those of the last segment, and of
 * those that have none. `undefined` when there are no segments.
 */
export async function unindexedBytes(
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
