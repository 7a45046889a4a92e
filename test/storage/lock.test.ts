import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test, { type TestContext } from "node:test";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { Layout } from "../../src/storage/layout.ts";
import { acquireLock, type DirectoryLock } from "../../src/storage/lock.ts";
import { ownIdentity } from "../../src/storage/process-identity.ts";

const now = (): number => 0;
const TOKEN = "0123456789abcdef01234567";

async function directory(t: TestContext): Promise<Layout> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-lock-"));
  t.after(() => rm(root, { recursive: true }));
  return new Layout(root);
}

function acquire(layout: Layout): Promise<DirectoryLock> {
  return acquireLock(systemFiles, layout, now);
}

/** Writes a lock as an owner would have left it. */
async function leaveLock(layout: Layout, owner: object): Promise<void> {
  const self = await ownIdentity();
  const lock = { ...self, since: "2026-01-01T00:00:00.000Z", token: TOKEN, ...owner };
  await writeFile(layout.lock, JSON.stringify(lock));
}

/** Starts a process that waits for a line, tries to take the lock, prints the result, and keeps running. */
function startTaker(
  t: TestContext,
  layout: Layout,
): { child: ChildProcess; answer: Promise<string> } {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "../support/take-lock.ts"), layout.root],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const answer = once(lines, "line").then(([line]) => String(line));
  return { child, answer };
}

test("a directory that this user may not make or write is named with the way out", async (t) => {
  const layout = await directory(t);
  const refused = (): never => {
    throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  };
  for (const closed of [
    { ...systemFiles, makeDirectory: refused },
    { ...systemFiles, open: refused },
  ]) {
    await assert.rejects(
      async () => acquireLock(closed, layout, now),
      new RegExp(
        `"${layout.root}" cannot be written by this user: .* another DATA_DIR \\(EACCES\\)`,
      ),
    );
  }
});

for (const [code, said] of [
  ["ENOENT", "does not exist and cannot be created: choose another DATA_DIR"],
  ["ENOSPC", "is on a full disk: free some space, or choose another DATA_DIR"],
] as const) {
  test(`a directory that cannot be used (${code}) is named with the way out`, async (t) => {
    const layout = await directory(t);
    const refused = () => Promise.reject(Object.assign(new Error(code), { code }));
    const message = `The data directory "${layout.root}" ${said} (${code})`;
    const files = { ...systemFiles, makeDirectory: refused };
    await assert.rejects(acquireLock(files, layout, now), { message });
  });
}

test("a lock is taken once, and again after its release", async (t) => {
  const layout = await directory(t);
  const lock = await acquire(layout);
  await assert.rejects(acquire(layout), {
    message: `The data directory "${layout.root}" is in use by process ${process.pid} on host "${hostname()}" since 1970-01-01T00:00:00.000Z (this very process): stop that server, or choose another DATA_DIR`,
  });
  await lock.release();
  assert.deepEqual(await readdir(layout.root), []);
  await (await acquire(layout)).release();
});

test("a missing data directory is created", async (t) => {
  const { root } = await directory(t);
  const layout = new Layout(join(root, "a", "b"));
  const lock = await acquire(layout);
  assert.deepEqual(await readdir(layout.root), ["lock"]);
  await lock.release();
});

test("the lock of a process that was killed is taken over", async (t) => {
  const layout = await directory(t);
  const { child, answer } = startTaker(t, layout);
  child.stdin?.write("go\n");
  assert.equal(await answer, "taken");
  await assert.rejects(acquire(layout), /is in use by process \d+ on host/);
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = await acquire(layout);
  assert.equal(JSON.parse(await readFile(layout.lock, "utf8")).pid, process.pid);
  assert.deepEqual(await readdir(layout.root), ["lock"]);
  await lock.release();
});

test("one of several processes takes over a dead owner's lock", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { started: "1" });
  const takers = [1, 2, 3].map(() => startTaker(t, layout));
  for (const { child } of takers) child.stdin?.write("go\n");
  const answers = await Promise.all(takers.map((taker) => taker.answer));
  assert.equal(answers.filter((answer) => answer === "taken").length, 1, answers.join("\n"));
});

test("one of many attempts in one process takes over the lock, in any order", async (t) => {
  for (let round = 0; round < 20; round++) {
    const layout = await directory(t);
    await leaveLock(layout, { started: "1" });
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => acquire(layout)));
    const won = results.filter((result) => result.status === "fulfilled");
    assert.equal(won.length, 1);
    assert.deepEqual(await readdir(layout.root), ["lock"]);
    await won[0]?.value.release();
  }
});

test("a reused process number does not keep the lock", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { started: "1" }); // our own number, as a container's always is
  await (await acquire(layout)).release();
});

test("a lock from before the last boot is taken over", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { boot: "another" });
  await (await acquire(layout)).release();
});

test("a lock from another host is refused, with the way out", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { host: "elsewhere", pid: 123 });
  await assert.rejects(acquire(layout), (error: Error) => {
    assert.match(error.message, /process 123 on host "elsewhere" since 2026-01-01T00:00:00.000Z/);
    assert.ok(error.message.includes(`remove "${layout.lock}"`));
    return true;
  });
});

test("a lock that cannot be read is refused, with the way out", async (t) => {
  const layout = await directory(t);
  await writeFile(layout.lock, "{}");
  await assert.rejects(acquire(layout), /lock" is damaged: make sure that no server uses/);
});

test("a claim whose owner died is followed by the next claim", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { started: "1", token: "aaaaaaaaaaaaaaaaaaaaaaaa" });
  const claim = await readFile(layout.lock, "utf8");
  await writeFile(`${layout.lock}.after-${TOKEN}`, claim);
  await leaveLock(layout, { started: "1" });
  const lock = await acquire(layout);
  assert.deepEqual(await readdir(layout.root), ["lock"]);
  await lock.release();
});

test("a slow process that read the dead owner's lock before its replacement gives way", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { started: "1" });
  let winner: DirectoryLock | undefined;
  let links = 0;
  const slow = {
    ...systemFiles,
    async link(from: string, to: string): Promise<void> {
      if (++links === 2) winner = await acquire(layout); // between the slow one's read and its claim
      return systemFiles.link(from, to);
    },
  };
  await assert.rejects(acquireLock(slow, layout, now), /is in use by/);
  assert.deepEqual(await readdir(layout.root), ["lock"]);
  await winner?.release();
});

test("a release does not remove a lock that now belongs to another process", async (t) => {
  const layout = await directory(t);
  const lock = await acquire(layout);
  await leaveLock(layout, {});
  await lock.release();
  assert.deepEqual(await readdir(layout.root), ["lock"]);
});
