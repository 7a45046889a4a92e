/** The built server as a process of its own, as an operator runs it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Scope } from "./start.ts";

const SERVER = fileURLToPath(new URL("../../dist/server.js", import.meta.url));

/** A process that has been started, and what it has said so far. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | string>;
  stdout = "";
  stderr = "";

  constructor(environment: Readonly<Record<string, string>>) {
    const env = { PATH: process.env["PATH"] ?? "", PORT: "0", LOG_LEVEL: "warn", ...environment };
    this.#child = spawn(process.execPath, [SERVER], { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.#exited = once(this.#child, "close").then(([code, signal]) => code ?? signal);
  }

  /** Waits until it listens and says where. */
  async url(): Promise<string> {
    while (!this.stdout.includes("\n")) {
      const ended = once(this.#child.stdout ?? this.#child, "data").then(() => undefined);
      const code = await Promise.race([ended, this.#exited]);
      if (code !== undefined) throw new Error(`It ended with ${code}: ${this.stderr}`);
    }
    return /^Signalbox listening on (\S+)\n/.exec(this.stdout)?.[1] ?? "";
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The exit code, or the signal that ended it; kills it when that takes longer than ten seconds. */
  async exit(): Promise<number | string> {
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    const code = await this.#exited;
    clearTimeout(late);
    return code;
  }
}

/** Starts the built server; it is killed when the test ends. */
export function launch(t: Scope, environment: Readonly<Record<string, string>>): ServerProcess {
  const server = new ServerProcess(environment);
  t.after(async () => {
    server.kill("SIGKILL");
    await server.exit();
  });
  return server;
}

/** A new directory that is gone when the test ends. */
export async function newDirectory(t: Scope): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "signalbox-process-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
