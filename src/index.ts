/// <reference lib="esnext.disposable" preserve="true" />
import { openApp } from "./app.ts";
import { ConfigError, configFromOptions, type SettingOptions } from "./config.ts";
import type { Clock } from "./core/clock.ts";

/** The settings of `startSignalbox`, and what an embedder may put in place of the outside world. */
export interface SignalboxOptions extends SettingOptions {
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: Clock;
  /** Takes the log's lines, one JSON object each with its line end; standard error when absent. */
  readonly writeLog?: (line: string) => void;
}

/** A running service. */
export interface Signalbox {
  /** Where it answers, without a slash at the end. */
  readonly url: string;
  /** Answers what is in flight, writes what is left to write, and frees the directory. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The clock of the system: the one place where the time comes from. */
export const systemClock: Clock = Date.now;

/**
 * Starts a service inside this process, by default on a free port of the loopback interface and
 * without a log. The environment is never read.
 *
 * @throws ConfigError for an option that is not understood; Error when the directory is in use, is
 *   damaged, or the address cannot be had
 */
export async function startSignalbox(options: SignalboxOptions): Promise<Signalbox> {
  const { now = systemClock, writeLog, ...settings } = asObject(options);
  for (const [name, value] of Object.entries({ now, writeLog })) {
    if (value === undefined || typeof value === "function") continue;
    throw new ConfigError(`${name}: expected a function`);
  }
  const { url, close } = await openApp(configFromOptions(settings), now, writeLog);
  return { url, close, [Symbol.asyncDispose]: close };
}

/** The options; plain JavaScript can pass something else, which then lacks what is required. */
function asObject(options: unknown): SignalboxOptions {
  return (typeof options === "object" && options !== null ? options : {}) as SignalboxOptions;
}

export { ConfigError, type SettingOptions };
