import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import { commandText } from "../core/quoted-word.ts";
import type { Attempt } from "./attempt.ts";
import { Guard, type Machine } from "./machine.ts";

/** The exit codes of a shell for a command that must not be run, and for a missing command. */
const NOT_ALLOWED = 126;
const NOT_FOUND = 127;
const SIGNAL_BASE = 128;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** The signals that a terminal sends to the command itself. Many programs quit at once at a second interrupt. */
const FROM_TERMINAL: ReadonlySet<string> = new Set(["SIGINT", "SIGQUIT"]);

/**
 * Decides a command and runs it. Standard streams, signals and the exit code are passed through.
 *
 * @param args `[--consumer human|ai|ci] [--] CMD ARGS…`
 * @returns the exit code of the command; 126 if it is denied
 */
export async function runExec(args: readonly string[], machine: Machine): Promise<number> {
  const { consumer, argv } = readArguments(args, machine);
  const [file, ...rest] = argv;
  if (file === undefined) throw new Error("exec: expected a command, as in guard exec -- git push");
  const guard = new Guard(machine);
  const began = machine.now();
  const attempt: Attempt = {
    kind: "before",
    transport: "exec",
    consumer,
    command: commandText(argv),
    argv,
    session: `exec-${began.toString(36)}-${process.pid}-${Math.random().toString(36).slice(2, 10)}`,
    call: "1",
    context: "guard exec",
  };
  const { refusal, undecided } = guard.decide(attempt);
  if (refusal !== undefined) {
    await guard.startSync();
    machine.error(`signalbox guard: denied: ${refusal}\n`);
    return NOT_ALLOWED;
  }
  if (undecided !== undefined) {
    const wayOut = guard.settings.observes ? "" : "; GUARD_FAIL=closed denies such commands";
    machine.error(`signalbox guard: not decided, but run: ${undecided}${wayOut}\n`);
  }
  const code = await run(file, rest, machine);
  const durationMs = Math.max(0, machine.now() - began);
  guard.decide({ ...attempt, kind: "after", durationMs, succeeded: code === 0 });
  await guard.startSync();
  return code;
}

function readArguments(args: readonly string[], { env }: Machine) {
  const usual = env["CI"] ? "ci" : "human";
  const [first, value] = args;
  const isGiven = first === "--consumer";
  const consumer = isGiven ? value : usual;
  if (consumer !== "human" && consumer !== "ai" && consumer !== "ci") {
    throw new Error(`--consumer: expected human, ai or ci, found "${consumer ?? ""}"`);
  }
  const rest = isGiven ? args.slice(2) : args;
  const argv = rest[0] === "--" ? rest.slice(1) : rest;
  return { consumer, argv } as const;
}

async function run(file: string, args: readonly string[], machine: Machine): Promise<number> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    const fail = ({ code, message }: NodeJS.ErrnoException): void => {
      const isMissing = code === "ENOENT";
      machine.error(`signalbox guard: ${file}: ${isMissing ? "not found" : message}\n`);
      resolve(isMissing ? NOT_FOUND : NOT_ALLOWED);
    };
    const child = started(() => spawn(file, args, { stdio: "inherit", env: machine.env }), fail);
    if (!child) return;
    const inTerminal = hasTerminal();
    for (const signal of FORWARDED) {
      process.on(signal, () => {
        if (!inTerminal || !FROM_TERMINAL.has(signal)) child.kill(signal);
      });
    }
    child.on("error", fail);
    child.on("exit", (code, signal) => {
      resolve(code ?? SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

/** Starts a process. For some errors, such as too many arguments, `spawn` throws. */
function started<T>(start: () => T, fail: (error: Error) => void): T | undefined {
  try {
    return start();
  } catch (error) {
    fail(error as Error);
    return undefined;
  }
}

/** Whether a terminal controls this process, and so the command, which is in the same process group. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
