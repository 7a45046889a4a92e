import type { Stopwatch } from "../core/clock.ts";
import type { LogObserver } from "../engine.ts";
import type { FileOperations } from "./file-operations.ts";

/** Reports the writes and syncs of append logs to an observer; nothing else uses these two operations. */
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
