import type { Clock } from "./clock.ts";
import { printable } from "./printable.ts";
import { formatTimestamp } from "./time.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The fields of a line beside its message. Never a secret, a password, a token or a body. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Whether a line of this level would be written; if not, the caller need not compute its fields. */
  enabled(level: LogLevel): boolean;
}

/**
 * Creates a log with one JSON object per line: `time`, `level`, `message` and the fields.
 *
 * @param named replaces the names of settings in a message by the names that their source uses
 */
export function createLog(
  level: LogLevel,
  now: Clock,
  write: (line: string) => void,
  named: (message: string) => string = (message) => message,
): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  const enabled = (wanted: LogLevel) => LOG_LEVELS.indexOf(wanted) >= threshold;
  const at = (wanted: LogLevel) => (message: string, fields?: LogFields) => {
    if (!enabled(wanted)) return;
    const time = formatTimestamp(now());
    const line = JSON.stringify({ time, level: wanted, message: named(message), ...fields });
    write(`${printable(line)}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), enabled };
}

const MAX_CAUSES = 8; // an error may be its own cause

/** Describes a thrown value for a log line: the stacks of an error and its causes, or the value itself. */
export function describeError(error: unknown, causes = MAX_CAUSES): string {
  if (!(error instanceof Error)) {
    // Some objects cannot become text, and logging a failure must not fail.
    return typeof error === "object" ? Object.prototype.toString.call(error) : String(error);
  }
  const own = error.stack ?? `${error.name}: ${error.message}`;
  if (error.cause === undefined || causes === 0) return own;
  return `${own}\ncaused by ${describeError(error.cause, causes - 1)}`;
}
