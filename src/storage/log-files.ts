/** The numbered files of one log: the last one, the next one, and a failed one. */
import type { AppendLogOptions } from "./append-log-options.ts";
import { cutBack, LogFile, type Range } from "./log-file.ts";

/** Opens and repairs the last file of a log; `undefined` creates the first. */
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
      // An earlier attempt may have left a file that could not be removed.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** The valid part of a file that has failed. */
export interface GoodPart {
  /** The end of the last synced block. */
  synced: number;
  /** The end of the last acknowledged block. */
  acknowledged: number;
  /** Refused text before an acknowledged byte, once the file has failed. */
  holes: readonly Range[];
}

/** The active file, with the state that ends when the log rolls to the next one. */
export interface Current {
  readonly file: LogFile;
  /** The valid part; blocks before the last acknowledged byte may still wait for their sync. */
  readonly good: GoodPart;
  /** Whether acknowledged text is not synced yet. */
  isDirty: boolean;
  isSyncWanted: boolean;
}

/** The state of a file that is valid as a whole. */
export function currentOf(file: LogFile): Current {
  const good = { synced: file.size, acknowledged: file.size, holes: [] };
  return { file, good, isDirty: false, isSyncWanted: false };
}

/** Takes back text that was written but not acknowledged. A file without an acknowledged byte is removed. */
export async function takeBack(
  { files, removed }: AppendLogOptions,
  { path, sequence }: LogFile,
  { synced, acknowledged, holes }: GoodPart,
): Promise<void> {
  if (acknowledged > 0) return cutBack(files, path, synced, acknowledged, holes);
  await files.remove(path);
  removed?.(sequence);
}
