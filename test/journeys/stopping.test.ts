/** A service that is stopped while it makes changes whose clients have left. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openApp } from "../../src/app.ts";
import { configFromOptions } from "../../src/config.ts";
import { systemFiles, type FileOperations } from "../../src/storage/file-operations.ts";
import { openFileEngine } from "../../src/storage/files/engine.ts";
import { Client, type Answer } from "../support/client.ts";
import { START_TIME } from "../support/start.ts";

/** A disk on which the renames and syncs of some files hang until they are released. */
class HeldDisk {
  readonly #paths = new Map<number, string>();
  #held: RegExp | undefined;
  #waiting: (() => void)[] = [];
  #onWait: (() => void) | undefined;

  readonly files: FileOperations = {
    ...systemFiles,
    open: async (path, flags) => {
      const descriptor = await systemFiles.open(path, flags);
      this.#paths.set(descriptor, path);
      return descriptor;
    },
    rename: async (from, to) => {
      await this.#pass(to);
      await systemFiles.rename(from, to);
    },
    fdatasync: (descriptor, done) => {
      const path = this.#paths.get(descriptor) ?? "";
      void this.#pass(path).then(() => systemFiles.fdatasync(descriptor, done));
    },
  };

  /** From now on the files whose paths match hang; resolves when one does. */
  async hang(held: RegExp): Promise<void> {
    this.#held = held;
    await new Promise<void>((resolve) => (this.#onWait = resolve));
  }

  release(): void {
    this.#held = undefined;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  async #pass(path: string): Promise<void> {
    if (!this.#held?.test(path)) return;
    this.#onWait?.();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** A service over a disk, whose engine says when it begins to close. */
async function serve(dataDir: string, disk: HeldDisk) {
  let onClosing: (() => void) | undefined;
  const closing = new Promise<void>((resolve) => (onClosing = resolve));
  const app = await openApp(
    configFromOptions({ dataDir }),
    () => Date.parse(START_TIME),
    () => {},
    {
      async openEngine(parts) {
        const engine = await openFileEngine(parts, disk.files);
        return { ...engine, close: () => (onClosing?.(), engine.close()) };
      },
    },
  );
  const client = new Client();
  return {
    closing,
    send: (method: string, path: string, body?: object): Promise<Answer> =>
      client.request(app.url, method, `/api/v1${path}`, body),
    /** Sends a request; the result cuts its connection. */
    sendAndLeave(method: string, path: string): () => void {
      const headers = { "Content-Type": "application/json" };
      const sent = request(`${app.url}/api/v1${path}`, { method, headers, agent: false });
      sent.on("error", () => {});
      sent.end("{}");
      return () => void sent.destroy();
    },
    async close(): Promise<void> {
      client.close();
      await app.close();
    },
  };
}

async function newDirectory(t: TestContext): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

interface Case {
  readonly held: RegExp;
  readonly prepare: readonly (readonly [path: string, body: object])[];
  readonly change: readonly [method: string, path: string];
  readonly isMade: (send: (method: string, path: string) => Promise<Answer>) => Promise<boolean>;
}

const CASES: Readonly<Record<string, Case>> = {
  "policy.activate": {
    held: /policies/,
    prepare: [
      ["/policies", { version: "old", yaml: "a: 1" }],
      ["/policies", { version: "new", yaml: "a: 2", activate: false }],
    ],
    change: ["POST", "/policies/new/activate"],
    isMade: async (send) => (await send("GET", "/policies/new")).body.active,
  },
  "runtime.forget": {
    held: /fleet/,
    prepare: [["/fleet/heartbeat", { name: "agent" }]],
    change: ["DELETE", "/fleet/agent"],
    isMade: async (send) => (await send("GET", "/fleet")).body.runtimes.length === 0,
  },
};

/** Stops a service while its disk hangs, lets the disk go on, and starts the service again. */
async function stopAndStart(
  t: TestContext,
  dataDir: string,
  app: Awaited<ReturnType<typeof serve>>,
  disk: HeldDisk,
): ReturnType<typeof serve> {
  const closed = app.close();
  await app.closing;
  disk.release();
  await closed;
  const again = await serve(dataDir, new HeldDisk());
  t.after(() => again.close());
  return again;
}

for (const [action, { held, prepare, change, isMade }] of Object.entries(CASES)) {
  test(`a stop waits for ${action} of a client that has left, and its entry`, async (t) => {
    const dataDir = await newDirectory(t);
    const disk = new HeldDisk();
    const app = await serve(dataDir, disk);
    for (const [path, body] of prepare)
      assert.ok((await app.send("POST", path, body)).status < 300);
    const hanging = disk.hang(held);
    const leave = app.sendAndLeave(...change);
    await hanging;
    leave();
    const again = await stopAndStart(t, dataDir, app, disk);
    assert.equal(await isMade(again.send), true);
    const [newest] = (await again.send("GET", "/activity")).body.entries;
    assert.deepEqual([newest.action, newest.outcome], [action, "done"]);
  });
}

test("a stop refuses the changes whose turn has not come, and makes none of them", async (t) => {
  const dataDir = await newDirectory(t);
  const disk = new HeldDisk();
  const app = await serve(dataDir, disk);
  for (const version of ["first", "second", "third"]) {
    const draft = { version, yaml: "a: 1", activate: version === "first" };
    assert.equal((await app.send("POST", "/policies", draft)).status, 201);
  }
  const hanging = disk.hang(/policies/);
  const leaving = [app.sendAndLeave("POST", "/policies/second/activate")];
  await hanging;
  leaving.push(app.sendAndLeave("POST", "/policies/third/activate"));
  await app.send("GET", "/policies/third"); // meanwhile the request before it is read
  for (const leave of leaving) leave();
  const again = await stopAndStart(t, dataDir, app, disk);
  assert.equal((await again.send("GET", "/policies/second")).body.active, true);
  const { entries } = (await again.send("GET", "/activity?action=policy.activate")).body;
  assert.deepEqual(
    entries.map(({ target }: { target: { id: string } }) => target.id),
    ["second"],
  );
});
