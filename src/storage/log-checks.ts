/**
 * Logs are read once at start, so that damage is found early, not when the lost lines are needed. The logs of a
 * small directory are read before the service listens. Of a large directory the remaining logs are read in the
 * background, one after another.
 */
import { describeError, type Log } from "../core/log.ts";

export interface LogCheck {
  /** The path of the log. */
  readonly what: string;
  /** The bytes to read. */
  readonly bytes: number;
  run(): Promise<void>;
}

/** Checks that run in the background. */
export interface RunningChecks {
  /** Resolves when all checks have ended. */
  readonly done: Promise<void>;
  /** Starts no more checks, and resolves when the current one has ended. */
  close(): Promise<void>;
}

/**
 * Runs checks, smallest first, and resolves when the first ones, up to `before` bytes in total, have ended. A failed
 * check is only logged, since its log fails again when it is needed.
 */
export async function runChecks(
  checks: readonly LogCheck[],
  before: number,
  log: Log,
): Promise<RunningChecks> {
  const rest = [...checks].sort((a, b) => a.bytes - b.bytes);
  let isClosed = false;
  const runNext = async (): Promise<void> => {
    const { what, run } = rest.shift() as LogCheck;
    await run().catch((error: unknown) => {
      if (isClosed) return; // the check was given up
      log.error("a log could not be checked", { what, error: describeError(error) });
    });
  };
  for (let bytes = 0; rest[0] !== undefined;) {
    bytes += rest[0].bytes;
    if (bytes > before) break;
    await runNext();
  }
  const goOn = async (): Promise<void> => {
    while (rest.length > 0 && !isClosed) await runNext();
  };
  const done = goOn();
  return {
    done,
    close() {
      isClosed = true;
      return done;
    },
  };
}
