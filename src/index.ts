/// <reference lib="esnext.disposable" preserve="true" />
import { openApp } from "./app.ts";
import { configFromOptions, type SettingOptions } from "./config.ts";
import { systemClock, type Clock } from "./core/clock.ts";
import { ConfigError } from "./core/config-error.ts";

/** The settings of `startSignalbox`, and replacements for the clock and the log. */
export interface SignalboxOptions extends SettingOptions {
  /** Milliseconds since the epoch; the system's clock if absent. */
  readonly now?: Clock;
  /**
   * Takes the log's lines, one JSON object each with its line end; standard error if absent. A line is
   * lost if the function throws or its promise rejects.
   */
  readonly writeLog?: (line: string) => unknown;
}

/** A running service. */
export interface Signalbox {
  /** The address of the service, without a slash at the end. */
  readonly url: string;
  /** Answers the requests in flight, completes all writes, and releases the directory. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a service inside this process, by default on a free port of the loopback interface and
 * without a log. The environment is never read.
 *
 * @throws ConfigError naming an invalid option, such as a host that is not an address of this
 *   machine. Error if the machine refuses: the address is in use or not
 *   allowed (`cause` is Node's own error), or the directory is in use, damaged or not writable
 */
export async function startSignalbox(options: SignalboxOptions): Promise<Signalbox> {
  const { now = systemClock, writeLog, ...settings } = asObject(options);
  for (const [name, value] of Object.entries({ now, writeLog })) {
    if (value === undefined || typeof value === "function") continue;
    throw new ConfigError(`${name}: expected a function`);
  }
  const time: unknown = now();
  if (typeof time !== "number" || Number.isNaN(new Date(time).getTime())) {
    const shown = typeof time === "number" ? String(time) : "no number";
    throw new ConfigError(`now: returned ${shown}, expected milliseconds since the epoch`);
  }
  const write = writeLog && ((line: string) => void hand(line, writeLog));
  const { url, close } = await openApp(configFromOptions(settings), now, write);
  return { url, close, [Symbol.asyncDispose]: close };
}

/** Hands a line to the embedder's log. A failure there, such as a full disk, must not fail a request or a close. */
async function hand(line: string, writeLog: (line: string) => unknown): Promise<void> {
  try {
    await writeLog(line);
  } catch {
    // There is no other place to report it.
  }
}

/** The options as an object: plain JavaScript may pass anything else, which then lacks the required options. */
function asObject(options: unknown): SignalboxOptions {
  return (typeof options === "object" && options !== null ? options : {}) as SignalboxOptions;
}

export { ConfigError, type SettingOptions };
