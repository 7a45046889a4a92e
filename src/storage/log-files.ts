/** The row of numbered files that one log consists of: the last one, the next one, and a failed one. */
import type { AppendLogOptions } from "./append-log-options.ts";
import { cutBack, LogFile, type Range } from "./log-file.ts";

/** Opens the last file of a log, which is repaired; `undefined` creates the first. */
export function openLastFile(
  { files, pathOf, torn }: AppendLogOptions,
  last: number | undefined,
): Promise<LogFile> {
  if (last === undefined) return LogFile.create(files, pathOf(1), 1);
  return LogFile.open(files, pathOf(last), last, torn ?? (() => {}));
}

/** Creates the file that follows another one. */
export async function createNextFile(
  { files, pathOf }: AppendLogOptions,
  { sequence: last }: LogFile,
): Promise<LogFile> {
  for (let sequence = last + 1; ; sequence++) {
    try {
      return await LogFile.create(files, pathOf(sequence), sequence);
    } catch (error) {
      // An earlier try may have left a file that could not be removed again.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** How far the content of a failed file is good. */
export interface GoodPart {
  /** Where the last block ends that a sync covers. */
  synced: number;
  /** Where the last acknowledged block ends. */
  acknowledged: number;
  /** Refused text that stands before an acknowledged byte, once the file has failed. */
  holes: readonly Range[];
}

/** The file that takes the writes, with all that ends when the log rolls to the next one. */
export interface Current {
  readonly file: LogFile;
  /** How far the file is good; blocks before its last acknowledged byte may still wait for their sync. */
  readonly good: GoodPart;
  /** Whether text was answered that no sync covers yet. */
  isDirty: boolean;
  isSyncWanted: boolean;
}

/** A file of which all is good so far. */
export function currentOf(file: LogFile): Current {
  const good = { synced: file.size, acknowledged: file.size, holes: [] };
  return { file, good, isDirty: false, isSyncWanted: false };
}

/** Takes back what was written but not acknowledged. A file without an acknowledged byte is removed. */
export async function takeBack(
  { files, removed }: AppendLogOptions,
  { path, sequence }: LogFile,
  { synced, acknowledged, holes }: GoodPart,
): Promise<void> {
  if (acknowledged > 0) return cutBack(files, path, synced, acknowledged, holes);
  await files.remove(path);
  removed?.(sequence);
}
