import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import test, { type TestContext } from "node:test";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { Layout } from "../../src/storage/layout.ts";
import { acquireLock, ownerOf, type DirectoryLock } from "../../src/storage/lock.ts";
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

/** Checks that a directory has the files of one owner, and nothing else. */
async function assertOneOwner({ root, lock }: Layout): Promise<void> {
  const { token } = JSON.parse(await readFile(lock, "utf8"));
  assert.deepEqual((await readdir(root)).sort(), ["lock", `lock.${token}.socket`]);
}

/** Makes the lock of a process look like one that was taken in another container, by a process number of that one. */
async function moveToAnotherContainer(layout: Layout, change: object = {}): Promise<void> {
  const owner = JSON.parse(await readFile(layout.lock, "utf8"));
  const moved = { ...owner, namespace: "pid:[1]", pid: process.pid, ...change };
  await writeFile(layout.lock, JSON.stringify(moved));
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
  await assertOneOwner(layout);
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
  await assertOneOwner(layout);
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
    await assertOneOwner(layout);
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

test("the lock of another container of this host is kept while its owner lives", async (t) => {
  const layout = await directory(t);
  const { child, answer } = startTaker(t, layout);
  child.stdin?.write("go\n");
  assert.equal(await answer, "taken");
  await moveToAnotherContainer(layout);
  const inUse = new RegExp(`is in use by process ${process.pid} on host "[^"]*" since [^ ]*: stop`);
  await assert.rejects(acquire(layout), inUse);
  assert.match(String(await ownerOf(systemFiles, layout)), /^process \d+ on host/);
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(await ownerOf(systemFiles, layout), undefined);
  const lock = await acquire(layout);
  await assertOneOwner(layout);
  await lock.release();
  assert.deepEqual(await readdir(layout.root), []);
});

test("a lock is kept while its owner listens, whatever boot or number a container shows", async (t) => {
  const layout = await directory(t);
  const lock = await acquire(layout);
  for (const change of [
    { boot: "another" },
    { started: "1" },
    { namespace: null, pid: 4_194_305 },
  ]) {
    await moveToAnotherContainer(layout, { namespace: undefined, ...change });
    await assert.rejects(acquire(layout), /is in use by process/, JSON.stringify(change));
    assert.match(String(await ownerOf(systemFiles, layout)), /^process \d+ on host/);
  }
  await lock.release();
});

test("the lock of another container is refused by a path that is too long for its socket", async (t) => {
  const layout = await directory(t);
  const lock = await acquire(layout);
  await moveToAnotherContainer(layout);
  const long = new Layout(join(layout.root, "..", `${basename(layout.root)}-${"a".repeat(90)}`));
  await symlink(layout.root, long.root);
  t.after(() => rm(long.root));
  await assert.rejects(acquire(long), /cannot be told from another container/);
  assert.match(String(await ownerOf(systemFiles, long)), /^process \d+ on host/);
  await lock.release();
});

test("the lock of another container is refused, with the way out, if its owner has no socket", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { namespace: "pid:[1]", listens: false });
  const wayOut = `cannot be told from another container "${hostname()}": stop it, then remove "${layout.lock}"`;
  await assert.rejects(acquire(layout), (error: Error) => error.message.includes(wayOut));
});

test("a directory whose path is too long for a socket is locked all the same", async (t) => {
  const { root } = await directory(t);
  const layout = new Layout(join(root, "a".repeat(90)));
  const lock = await acquire(layout);
  assert.deepEqual(await readdir(layout.root), ["lock"]);
  await assert.rejects(acquire(layout), /\(this very process\)/);
  await lock.release();
});

test("the lock of an earlier version, without namespace and socket, is taken over", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { started: "1", namespace: undefined, listens: undefined });
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
  await rm(layout.lock);
  await mkdir(layout.lock);
  await assert.rejects(acquire(layout), /lock" is damaged: make sure that no server uses/);
});

test("a claim whose owner died is followed by the next claim", async (t) => {
  const layout = await directory(t);
  await leaveLock(layout, { started: "1", token: "aaaaaaaaaaaaaaaaaaaaaaaa" });
  const claim = await readFile(layout.lock, "utf8");
  await writeFile(`${layout.lock}.after-${TOKEN}`, claim);
  await leaveLock(layout, { started: "1" });
  const lock = await acquire(layout);
  await assertOneOwner(layout);
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
  await assertOneOwner(layout);
  await winner?.release();
});

test("a release does not remove a lock that now belongs to another process", async (t) => {
  const layout = await directory(t);
  const lock = await acquire(layout);
  await leaveLock(layout, {});
  await lock.release();
  assert.deepEqual(await readdir(layout.root), ["lock"]);
});
