import { spawn, type ChildProcess } from "node:child_process";

/** A server in a separate process. */
export interface Started {
  /** Headers that each request of a measurement carries. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly url: string;
  readonly pid: number;
  /** A second server over the same data: each takes half of the load. */
  readonly second?: Started;
  /** Asks it to end, and kills it after ten seconds. */
  stop(): Promise<void>;
}

const START_MS = 600_000; // a peer may have to load a million events first
const STOP_MS = 10_000;

/** Starts Node with these arguments, and resolves when it has printed its address. */
export async function startProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    return { url: await listeningUrl(child), pid: child.pid ?? 0, stop: () => stopProcess(child) };
  } catch (error) {
    await stopProcess(child);
    throw new Error(`${args.join(" ")} did not start`, { cause: error });
  }
}

/** Ends a child process and waits until it has ended. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

function listeningUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => reject(new Error("It never said where")), START_MS);
    child.stdout?.setEncoding("utf8");
    child.stdout?.on("data", (chunk: string) => {
      output += chunk;
      const found = /listening on (\S+)\n/.exec(output);
      if (found?.[1] === undefined) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`It ended with ${code ?? signal}`));
    });
  });
}
