/** Runs a command of `signalbox` with the streams of this process. */
import type { ReadStream } from "node:tty";
import { clientEnvironment } from "../config.ts";
import { systemClock } from "../core/clock.ts";
import { pause } from "../core/timers.ts";
import { readPassword } from "./password-prompt.ts";
import { runProgram } from "./program.ts";

const env = clientEnvironment();
const write = (text: string): void => void process.stderr.write(text);

process.exitCode = await runProgram(process.argv.slice(2), {
  now: systemClock,
  env,
  isTerminal: process.stdout.isTTY === true,
  out: (text) => void process.stdout.write(text),
  error: write,
  pause,
  readPassword: (prompt) => readPassword(process.stdin as ReadStream, write, prompt),
});
