/** The files of the logs that trees are over, oldest first. */
import { basename } from "node:path";
import { LOGS, type LogName } from "../../../signed-logs/store.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog } from "../../log-lines.ts";
import { listNumbers, numberedPath } from "../../numbered-files.ts";
import { listSegments, segmentPath } from "../../segmented-log.ts";

/** The logs with a tree, by the last part of the tree's name. */
export const TREES = LOGS;
export type TreeName = LogName;

/** A file of a log, and the bytes of its acknowledged lines. */
export interface LogPart {
  readonly name: string;
  readonly path: string;
  readonly end: number;
}

/** The directory of a tree's files. */
export function treeDirectory(layout: Layout, id: string, tree: TreeName): string {
  const { auditProof, activityProof } = layout.organization(id);
  return tree === "audit" ? auditProof : activityProof;
}

/**
 * Lists the files of a log.
 *
 * @param committed the acknowledged bytes of the files that are open for writing, by path
 */
export async function logParts(
  files: FileOperations,
  layout: Layout,
  id: string,
  tree: TreeName,
  committed: ReadonlyMap<string, number> = new Map(),
): Promise<readonly LogPart[]> {
  const parts: LogPart[] = [];
  for (const path of await logPaths(files, layout, id, tree)) {
    const { size } = await files.stat(path);
    const end = committed.get(path) ?? (await endOfLog(files, path, size));
    parts.push({ name: basename(path), path, end });
  }
  return parts;
}

async function logPaths(
  files: FileOperations,
  layout: Layout,
  id: string,
  tree: TreeName,
): Promise<readonly string[]> {
  const { audit, activityLog } = layout.organization(id);
  if (tree === "activity") {
    return (await listNumbers(files, activityLog)).map((file) => numberedPath(activityLog, file));
  }
  return (await listSegments(files, audit)).map((segment) => segmentPath(audit, segment));
}
