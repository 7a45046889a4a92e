import type { Stopwatch } from "../core/clock.ts";
import type { FileOperations } from "./file-operations.ts";

/** Hears what an append log asks of the disk. */
export interface LogObserver {
  /** So many bytes were given to the operating system. */
  readonly wrote: (bytes: number) => void;
  /** A sync ended after so many milliseconds, with the error if it failed. */
  readonly synced: (ms: number, error: Error | null) => void;
}

/** File operations that tell an observer about the writes and syncs of append logs, which alone use them. */
export function measuredFiles(
  files: FileOperations,
  stopwatch: Stopwatch,
  { wrote, synced }: LogObserver,
): FileOperations {
  return {
    ...files,
    writeSync(descriptor, bytes, position) {
      const count = files.writeSync(descriptor, bytes, position);
      wrote(count);
      return count;
    },
    fdatasync(descriptor, done) {
      const startedAt = stopwatch();
      files.fdatasync(descriptor, (error) => {
        synced(stopwatch() - startedAt, error);
        done(error);
      });
    },
  };
}
