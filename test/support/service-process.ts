import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The service as a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly dataDir: string;
  readonly child: ChildProcessWithoutNullStreams;
}

/**
 * Starts the service as a process on a free port over a new directory; both are gone when the test
 * ends. Nobody reads its standard error unless the test does.
 *
 * @param prelude shell commands that the process inherits the effect of, such as `ulimit`
 */
export async function startProcess(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  prelude = "true",
): Promise<ServiceProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), "signalbox-process-"));
  const command = `${prelude} && exec "$0" --import tsx src/server.ts`;
  const env = { PATH: process.env["PATH"], PORT: "0", DATA_DIR: dataDir, ...settings };
  const child = spawn("sh", ["-c", command, process.execPath], { cwd: root, env });
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await rm(dataDir, { recursive: true, force: true });
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = /^Signalbox listening on (\S+)\n$/.exec(line.toString("utf8"))?.[1];
  assert.ok(url, line.toString("utf8"));
  return { url, dataDir, child };
}
