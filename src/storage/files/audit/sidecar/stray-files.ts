import { join } from "node:path";
import { damagedPath } from "../../../damage.ts";
import { listDirectory } from "../../../directories.ts";
import type { FileOperations } from "../../../file-operations.ts";
import type { SegmentedLog } from "../../../segmented-log.ts";
import { TEMPORARY_SUFFIX } from "../../../snapshot.ts";

/** The name or the path of the sidecar of a segment, by that of its log. */
export function sidecarOf(path: string): string {
  return path.replace(/\.jsonl$/, ".idx");
}

/** Removes unfinished files, and files of removed segments. */
export async function removeStrayFiles(
  files: FileOperations,
  directory: string,
  log: SegmentedLog,
): Promise<void> {
  const paths = log.segments.map((segment) => log.path(segment));
  const known = new Set([...paths.map(damagedPath), ...paths.map(sidecarOf)]);
  for (const name of await listDirectory(files, directory)) {
    const isBeside = /^\d{12}\.(?:idx|jsonl\.damaged)$/.test(name);
    const isStray = isBeside && !known.has(join(directory, name));
    const isUnfinished = /^\d{12}\./.test(name) && name.endsWith(TEMPORARY_SUFFIX);
    if (isStray || isUnfinished) await files.remove(join(directory, name));
  }
}
