/** A real file system of a few MiB, where this process may mount one; elsewhere this is skipped. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { startSignalbox } from "../../src/index.ts";
import { Client } from "../support/client.ts";

const MIB = 1 << 20;

/** Where something may be mounted for a test; unmounted and removed when that ends. */
async function mountPoint(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "signalbox-disk-"));
  t.after(async () => {
    try {
      run("umount", path);
    } catch {
      // It was not mounted.
    }
    await rm(path, { recursive: true, force: true });
  });
  return path;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: "pipe" });
}

/** Runs a command that needs rights or tools; `false`, with the reason told, where it cannot be done. */
function mayRun(t: TestContext, command: string, ...args: string[]): boolean {
  try {
    run(command, ...args);
    return true;
  } catch (error) {
    t.skip(`"${command}" cannot be used here: ${(error as Error).message.split("\n")[0]}`);
    return false;
  }
}

/**
 * Reports events until the disk refuses; makes room; reports again.
 *
 * @returns the ids that were acknowledged
 */
async function fillAndGoOn(dataDir: string, makeRoom: () => Promise<void>): Promise<string[]> {
  const signalbox = await startSignalbox({ dataDir });
  const client = new Client();
  const acknowledged: string[] = [];
  const send = (method: string, path: string, body?: object) =>
    client.request(signalbox.url, method, path, body);
  const report = async (id: string): Promise<number> => {
    const event = { id, command: "x".repeat(200_000) };
    const { status } = await send("POST", "/api/public/audit", event);
    if (status === 202) acknowledged.push(id);
    return status;
  };
  let next = 0;
  let status = 202;
  while (status === 202 && next < 400) status = await report(`e${next++}`);
  assert.equal(status, 500);
  assert.ok(acknowledged.length > 0);
  const refused = await send("GET", "/ready");
  assert.equal(refused.status, 503);
  assert.match(refused.body.error, /cannot write the audit log/);
  assert.equal((await send("GET", "/health")).status, 200);
  const { body } = await send("GET", "/api/public/audit?limit=1");
  assert.deepEqual([body.total, body.events[0].id], [acknowledged.length, acknowledged.at(-1)]);

  await makeRoom();
  for (let asked = 0; (await send("GET", "/ready")).status !== 200; asked++) {
    assert.ok(asked < 200, "it does not become ready again");
    await wait(50);
  }
  assert.equal(await report("after"), 202);
  client.close();
  await signalbox.close();
  return acknowledged;
}

async function idsIn(dataDir: string): Promise<string[]> {
  const signalbox = await startSignalbox({ dataDir });
  const client = new Client();
  const { body } = await client.request(signalbox.url, "GET", "/api/public/audit?limit=1000");
  client.close();
  await signalbox.close();
  return (body.events as { id: string }[]).map(({ id }) => id).reverse();
}

test("a file system that is full refuses, and takes events again when there is room", async (t) => {
  const disk = await mountPoint(t);
  if (!mayRun(t, "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk)) return;
  const filler = join(disk, "filler");
  await writeFile(filler, Buffer.alloc(2 * MIB));
  const dataDir = join(disk, "data");
  const acknowledged = await fillAndGoOn(dataDir, () => rm(filler));
  assert.deepEqual(await idsIn(dataDir), acknowledged);
});
