/**
 * Logs are read once at start, so that damage is found then, and not when the lost lines are
 * needed. A small directory is read before the service listens; of a large one the rest is read
 * behind it, log after log.
 */
import { describeError, type Log } from "../core/log.ts";

/** A log to be looked at. */
export interface LogCheck {
  /** Where it lies. */
  readonly what: string;
  /** How much has to be read. */
  readonly bytes: number;
  run(): Promise<void>;
}

/** Checks that go on behind the service. */
export interface RunningChecks {
  /** Resolves when all have ended. */
  readonly done: Promise<void>;
  /** Begins no more of them, and resolves when the one under way has ended. */
  close(): Promise<void>;
}

/**
 * Runs checks, the small ones first, and resolves when those have ended of which the bytes together
 * are within `before`. One that fails is logged: what it was about fails again when it is needed.
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
      if (isClosed) return; // it was given up
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
