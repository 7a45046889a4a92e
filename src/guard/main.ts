/**
 * The program `signalbox guard`, which hooks start too. Every command of an agent waits until it has started, so the
 * build bundles only the decision into one file; code that needs the network or YAML is loaded on demand. The copy for
 * hooks is a CommonJS file, because Node needs about 10 ms more to start an ECMAScript module. So top-level `await` is
 * not allowed here. It has only ASCII characters: with a single other one, V8 needs twice the time to compile it.
 */
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../core/clock.ts";
import { printableLines } from "../core/printable.ts";
import { runExec } from "./exec.ts";
import { runHook } from "./hook.ts";
import type { Machine } from "./machine.ts";
import { withPins } from "./pins.ts";

const [OUT, ERROR] = [1, 2];

function write(file: number, text: string): void {
  try {
    writeSync(file, text);
  } catch {
    // The reader has closed the pipe.
  }
}

function version(): string {
  try {
    const text = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return "unknown";
  }
}

const given = process.argv.slice(process.argv[2] === "guard" ? 3 : 2);
const { env, words } = withPins(given, process.env);
const [command = "", ...args] = words;

const machine: Machine = {
  env,
  now: systemClock,
  version: version(),
  program: join(import.meta.dirname, "main.cjs"),
  out: (text) => write(OUT, text),
  error: (text) => write(ERROR, printableLines(text)), // reasons and names come from policies and files
};

async function run(): Promise<number> {
  // Elsewhere pins could turn a decision off, and a hook would have to look past them to find the command of `exec`.
  if (words !== given && command !== "hook") {
    const found = command === "" ? "no command" : `"${command}"`;
    throw new Error(
      `--env: expected hook behind it, found ${found}: set the variable as NAME=VALUE`,
    );
  }
  if (command === "hook" && args[0] !== "--help") return runHook(args.join(" "), machine);
  if (command === "exec" && args[0] !== "--help") return runExec(args, machine);
  const { runCommand } = await import("./commands.ts");
  return runCommand(command, args, machine);
}

// All output is written by now. Without `exit`, Node would take its own parts down one by one.
run().then(
  (code) => process.exit(code),
  (error: unknown) => {
    machine.error(`signalbox guard: ${(error as Error).message}\n`);
    process.exit(1);
  },
);
