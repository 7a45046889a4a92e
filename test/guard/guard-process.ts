/** The built guard as processes of its own, as agents and people start it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Scope } from "../support/start.ts";

/** The built program that hooks start. */
export const GUARD = fileURLToPath(new URL("../../dist/guard/main.cjs", import.meta.url));

/** The end of a process. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** A process that runs. */
export interface Launched {
  readonly ended: Promise<Ended>;
  kill(): void;
}

/** A machine with a guard: a home, a project and a directory of the guard. */
export class GuardMachine {
  readonly home: string;
  readonly directory: string;
  readonly env: Record<string, string>;
  /** The guard that runs; the built one unless a test sets another. */
  program = GUARD;

  constructor(home: string, settings: Readonly<Record<string, string>>) {
    this.home = home;
    this.directory = join(home, "guard");
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      GUARD_DIR: this.directory,
      GUARD_NAME: "machine-1",
      ...settings,
    };
  }

  /** Runs a command of the guard; `input` is its standard input, `null` for none. */
  run(args: readonly string[], input: string | Buffer | null = ""): Promise<Ended> {
    return this.launch(args, input).ended;
  }

  /** The same for a process that a test may kill. */
  launch(args: readonly string[], input: string | Buffer | null = ""): Launched {
    const stdio = [input === null ? "ignore" : "pipe", "pipe", "pipe"] as const;
    const child = spawn(process.execPath, [this.program, ...args], {
      cwd: this.home,
      env: this.env,
      stdio: [...stdio],
    });
    let [out, error] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (error += text));
    child.stdin?.on("error", () => {}); // the guard does not read a payload to its end that is too long
    child.stdin?.end(input ?? "");
    const ended = once(child, "close").then(([code]) => ({
      code: code as number | null,
      out,
      error,
    }));
    return { ended, kill: () => void child.kill("SIGKILL") };
  }

  /** Gives a payload to a hook. */
  hook(agent: string, payload: unknown): Promise<Ended> {
    return this.run(["hook", agent], JSON.stringify(payload));
  }
}

/** Makes a machine, which is removed when the test ends. */
export async function newMachine(
  t: Scope,
  settings: Readonly<Record<string, string>> = {},
): Promise<GuardMachine> {
  const home = await mkdtemp(join(tmpdir(), "signalbox-guard-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  return new GuardMachine(home, settings);
}

/** Makes a machine that has fetched the policy. Nothing is sent until `send`. */
export async function syncedMachine(
  t: Scope,
  url: string,
  more: Readonly<Record<string, string>> = {},
): Promise<GuardMachine> {
  const machine = await newMachine(t, { RUNTIME_PORTAL_BASE_URL: url, ...more });
  await send(machine);
  machine.env["RUNTIME_PORTAL_ENABLED"] = "false";
  return machine;
}

/** Sends everything in the spool. */
export async function send(machine: GuardMachine): Promise<void> {
  const env = { ...machine.env };
  machine.env["RUNTIME_PORTAL_ENABLED"] = "true";
  const { code, error } = await machine.run(["sync"]);
  Object.assign(machine.env, env);
  assert.deepEqual([code, error], [0, ""]);
}
