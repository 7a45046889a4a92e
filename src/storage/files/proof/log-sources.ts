/** The files of the logs that trees are over, oldest first. */
import { basename } from "node:path";
import type { NamedLog } from "../../../proof/log-name.ts";
import { ifExists, type FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog } from "../../log-lines.ts";
import { listNumbers, numberedPath } from "../../numbered-files.ts";
import { listSegments, segmentPath } from "../../segmented-log.ts";

/** A file of a log, and the bytes of its acknowledged lines. */
export interface LogPart {
  readonly name: string;
  readonly path: string;
  readonly end: number;
}

/**
 * Lists the files of a log.
 *
 * @param committed the acknowledged bytes of the files that are open for writing, by path
 */
export async function logParts(
  files: FileOperations,
  layout: Layout,
  named: NamedLog,
  committed: ReadonlyMap<string, number> = new Map(),
): Promise<readonly LogPart[]> {
  const parts: LogPart[] = [];
  for (const path of await logPaths(files, layout, named)) {
    // Retention may have removed it meanwhile.
    const end = await ifExists(endOf(files, path, committed.get(path)));
    if (end !== undefined) parts.push({ name: basename(path), path, end });
  }
  return parts;
}

/** The bytes of the acknowledged lines of a file. */
async function endOf(
  files: FileOperations,
  path: string,
  committed: number | undefined,
): Promise<number> {
  const { size } = await files.stat(path);
  return committed ?? endOfLog(files, path, size);
}

async function logPaths(
  files: FileOperations,
  layout: Layout,
  { organization, log }: NamedLog,
): Promise<readonly string[]> {
  const { audit, activityLog } = layout.organization(organization);
  if (log === "activity") {
    return (await listNumbers(files, activityLog)).map((file) => numberedPath(activityLog, file));
  }
  return (await listSegments(files, audit)).map((segment) => segmentPath(audit, segment));
}
