/** The process around the service: settings from the environment, signals, memory, exit codes. */
import { setFlagsFromString } from "node:v8";
import { configFromEnvironment } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import { printable } from "../core/printable.ts";
import { describeDiskFault } from "../storage/disk-fault.ts";
import { readArguments } from "./arguments.ts";
import type { CliCommand } from "./command.ts";

/**
 * How much garbage V8 leaves until it collects, in percent of what is in use. Its default is several times as much: floods
 * of long answers took a third more memory than with this, and no less processor time.
 */
const GARBAGE_PERCENT = 100;

/** Serves until a signal ends the process. A failure, such as an argument, ends it with exit code 1 and one line. */
export async function serve(now: Clock, args: readonly string[] = []): Promise<void> {
  try {
    const [argument] = args;
    if (argument !== undefined) {
      throw new Error(
        `"${argument}": there are no arguments, only the variables of docs/configuration.md`,
      );
    }
    setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
    const { openApp } = await import("../app.ts"); // most of the program, which other commands do without
    const service = await openApp(configFromEnvironment(), now);
    let stopping = false;
    const stop = (): void => {
      if (stopping) process.exit(1); // the second signal stops at once
      stopping = true;
      service.close().then(
        () => process.exit(0),
        (error: unknown) => fail("could not stop cleanly", error),
      );
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
    // Last: who reads this line may send a signal at once.
    process.stdout.write(`Signalbox listening on ${service.url}\n`);
  } catch (error) {
    fail("cannot start", error);
  }
}

function fail(what: string, error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  const reason = printable((describeDiskFault(error) ?? message).replaceAll("\n", " "));
  process.stderr.write(`Signalbox ${what}: ${reason}\n`);
  process.exit(1);
}

export const serveCommand: CliCommand = {
  name: "serve",
  usage: "",
  summary: "Serve, with the settings of the environment, until SIGTERM or SIGINT",
  details:
    "docs/configuration.md lists the settings. Without any it serves ./data on http://127.0.0.1:8080.",
  async run(args, { now }) {
    readArguments(args, {});
    await serve(now);
    return new Promise<never>(() => {}); // a signal ends the process
  },
};
