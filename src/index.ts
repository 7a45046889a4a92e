/// <reference lib="esnext.disposable" preserve="true" />
import { openApp } from "./app.ts";
import { configFromOptions, type SettingOptions } from "./config.ts";
import type { Clock } from "./core/clock.ts";
import { ConfigError } from "./core/config-error.ts";

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
 * @throws ConfigError naming an option that is not understood or cannot be used, such as a host that is
 *   no address of this machine. Error for what the machine refuses: an address that is in use or not
 *   allowed (`cause` is Node's own error), a directory that is in use, damaged or not writable
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
  const { url, close } = await openApp(configFromOptions(settings), now, writeLog);
  return { url, close, [Symbol.asyncDispose]: close };
}

/** The options; plain JavaScript can pass something else, which then lacks what is required. */
function asObject(options: unknown): SignalboxOptions {
  return (typeof options === "object" && options !== null ? options : {}) as SignalboxOptions;
}

export { ConfigError, type SettingOptions };
