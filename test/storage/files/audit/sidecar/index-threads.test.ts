import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before, type TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { startThread } from "../../../../../src/core/thread.ts";
import { DamageRegister } from "../../../../../src/storage/damage.ts";
import { systemFiles } from "../../../../../src/storage/file-operations.ts";
import { FileAuditStore } from "../../../../../src/storage/files/audit.ts";
import { IndexThreads } from "../../../../../src/storage/files/audit/sidecar/index-threads.ts";
import { Layout } from "../../../../../src/storage/layout.ts";
import { append, auditEventOf, NOON, ORGANIZATION, page } from "../../../../audit/store-suite.ts";
import { silent as log } from "../../../../support/silent-log.ts";
const WORKER = "storage/files/audit/sidecar/index-worker";
const auditOf = (root: string): string => new Layout(root).organization(ORGANIZATION).audit;

function createStore(root: string, threads?: IndexThreads) {
  const damage = new DamageRegister(systemFiles, log);
  const store = new FileAuditStore({
    ...{ files: systemFiles, layout: new Layout(root), now: () => NOON, log, damage },
    durability: "write",
    segmentBytes: 20_000,
    ...(threads && { threads }),
  });
  return { store, damage };
}

/** The content of the indexes in a directory, by name. */
async function sidecars(root: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(auditOf(root))).filter((name) => name.endsWith(".idx")).sort();
  const texts = names.map((name) => readFile(join(auditOf(root), name), "base64"));
  return new Map((await Promise.all(texts)).map((text, i) => [names[i] as string, text]));
}

/** Some segments with their indexes, which no test changes. */
let history = "";
before(async () => {
  history = await mkdtemp(join(tmpdir(), "signalbox-threads-"));
  const { store } = createStore(history);
  for (let i = 0; i < 20; i++) {
    const events = Array.from({ length: 20 }, (_, n) =>
      auditEventOf({ command: `git push ${i * n}`, trace_id: `trace-${n}` }),
    );
    await append(store, events);
  }
  await store.close();
});
after(() => rm(history, { recursive: true, force: true }));

/** A copy of the history without an index. */
async function withoutIndexes(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-threads-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  await cp(history, root, { recursive: true });
  for (const name of (await sidecars(root)).keys()) await rm(join(auditOf(root), name));
  return root;
}

test("threads make the same indexes, except for segments with damaged lines, and all events are found", async (t) => {
  const root = await withoutIndexes(t);
  const first = join(auditOf(root), "000000000001.jsonl");
  await writeFile(first, `damage\n${await readFile(first, "utf8")}`);
  let started = 0;
  const threads = new IndexThreads(0, () => {
    started++;
    return startThread(WORKER);
  });
  const { store, damage } = createStore(root, threads);
  assert.equal((await page(store, { trace_id: "trace-7" }, 100)).total, 20);
  assert.equal((await page(store, {}, 1)).total, 400);
  await store.close();
  assert.ok(started > 0);
  assert.equal(damage.lines, 1);
  const [[name, damaged], ...others] = [...(await sidecars(root))] as [[string, string]];
  const [[, undamaged], ...same] = [...(await sidecars(history))] as [[string, string]];
  assert.equal(name, "000000000001.idx");
  assert.notEqual(damaged, undamaged);
  assert.ok(others.length > 1);
  assert.deepEqual(others, same);
});

for (const [what, start] of [
  ["cannot be started", (): Worker => assert.fail("No thread may be started")],
  ["dies at once", () => new Worker("process.exit(1)", { eval: true })],
  ["throws", () => new Worker("throw new Error('no')", { eval: true, stderr: true })],
] as const) {
  test(`the indexes are made even if a thread ${what}`, async (t) => {
    const root = await withoutIndexes(t);
    const { store } = createStore(root, new IndexThreads(0, start));
    assert.equal((await page(store, { trace_id: "trace-7" }, 100)).total, 20);
    await store.close();
    assert.deepEqual(await sidecars(root), await sidecars(history));
  });
}

test("a store that is closed while threads work waits for none of them", async (t) => {
  const root = await withoutIndexes(t);
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const threads = new IndexThreads(0, () => {
    begin();
    return new Worker("require('node:worker_threads').parentPort.on('message', () => {})", {
      eval: true,
    });
  });
  const { store } = createStore(root, threads);
  const asking = assert.rejects(page(store, {}, 1), /was closed while an index was made/);
  await begun;
  await store.close();
  await asking;
});

test("a small amount of work starts no thread", async (t) => {
  const root = await withoutIndexes(t);
  let started = 0;
  const threads = new IndexThreads(1 << 30, () => {
    started++;
    return startThread(WORKER);
  });
  const { store } = createStore(root, threads);
  assert.equal((await page(store, {}, 1)).total, 400);
  await store.close();
  assert.equal(started, 0);
});
