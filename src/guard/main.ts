/**
 * The program `signalbox guard`, which hooks start too. Every command of an agent waits until it has started, so the
 * build bundles only the decision into one file; code that needs the network or YAML is loaded on demand. The copy for
 * hooks is a CommonJS file, because Node needs about 10 ms more to start an ECMAScript module. So top-level `await` is
 * not allowed here.
 */
import { readFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runExec } from "./exec.ts";
import { runHook } from "./hook.ts";
import type { Machine } from "./machine.ts";

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
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return "unknown";
  }
}

const machine: Machine = {
  env: process.env,
  now: Date.now,
  version: version(),
  program: fileURLToPath(new URL("./main.cjs", import.meta.url)),
  out: (text) => write(OUT, text),
  error: (text) => write(ERROR, text),
};

const given = process.argv.slice(process.argv[2] === "guard" ? 3 : 2);
const [command = "", ...args] = given;

async function run(): Promise<number> {
  if (command === "hook" && args.length === 1) return runHook(args[0] ?? "", machine);
  if (command === "exec" && args[0] !== "--help") return runExec(args, machine);
  const { runCommand } = await import("./commands.ts");
  return runCommand(command, args, machine);
}

run().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    machine.error(`signalbox guard: ${(error as Error).message}\n`);
    process.exitCode = 1;
  },
);
