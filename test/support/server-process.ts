/** The built server as a process of its own, as an operator runs it. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Scope } from "./start.ts";

/** Far longer than a loaded machine takes to start and stop the service. */
const NEVER_MS = 120_000;

const SERVER = fileURLToPath(new URL("../../dist/server.js", import.meta.url));

/** Unusual ways to start a process. */
export interface LaunchOptions {
  /** A shell command that runs before the process and affects it, such as `ulimit`. */
  readonly prelude?: string;
  readonly args?: readonly string[];
  /** Leaves the standard error to the test, which may read `errors` late or never. */
  readonly leavesErrors?: true;
}

/** A started process, and its output so far. */
export class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<number | string>;
  stdout = "";
  stderr = "";

  constructor(environment: Readonly<Record<string, string>>, options: LaunchOptions = {}) {
    const env = {
      PATH: process.env["PATH"] ?? "",
      PORT: "0",
      LOG_LEVEL: "warn",
      CORS_PAGES_DEV: "off",
      ...environment,
    };
    const { args = [] } = options;
    const command = `${options.prelude ?? "true"} && exec "$0" "$@"`;
    this.#child = spawn("sh", ["-c", command, process.execPath, SERVER, ...args], { env });
    this.#child.stdin.end();
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.#child.stderr.setEncoding("utf8");
    if (!options.leavesErrors) this.errors.on("data", (text: string) => (this.stderr += text));
    const end = options.leavesErrors ? "exit" : "close"; // an unread stream never closes
    this.#exited = once(this.#child, end).then(([code, signal]) => code ?? signal);
  }

  /** Its standard error, for tests that launched it with `leavesErrors`. */
  get errors(): Readable {
    return this.#child.stderr;
  }

  /** Waits until it listens, and returns its URL. */
  async url(): Promise<string> {
    while (!this.stdout.includes("\n")) {
      const ended = once(this.#child.stdout, "data").then(() => undefined);
      const code = await Promise.race([ended, this.#exited]);
      if (code !== undefined) throw new Error(`It ended with ${code}: ${this.stderr}`);
    }
    return /^Signalbox listening on (\S+)\n/.exec(this.stdout)?.[1] ?? "";
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The exit code, or the signal that ended it; kills the process if it does not end by itself. */
  async exit(): Promise<number | string> {
    const late = setTimeout(() => this.#child.kill("SIGKILL"), NEVER_MS);
    const code = await this.#exited;
    clearTimeout(late);
    return code;
  }
}

/** Starts the built server; it is killed when the test ends. */
export function launch(
  t: Scope,
  environment: Readonly<Record<string, string>>,
  options?: LaunchOptions,
): ServerProcess {
  const server = new ServerProcess(environment, options);
  t.after(async () => {
    server.kill("SIGKILL");
    await server.exit();
  });
  return server;
}

/** A new directory, removed when the test ends. */
export async function newDirectory(t: Scope): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "signalbox-process-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
