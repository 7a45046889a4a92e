import assert from "node:assert/strict";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLog } from "../../../src/core/log.ts";
import { systemFiles } from "../../../src/storage/file-operations.ts";
import { FileAuditStore, type FileAuditOptions } from "../../../src/storage/files/audit.ts";
import { Layout } from "../../../src/storage/layout.ts";
import { testActivityAgainstNaive, testAgainstNaive } from "../../audit/store-property.ts";
import {
  append,
  auditEventOf,
  NOON,
  ORGANIZATION,
  page,
  testAuditStore,
} from "../../audit/store-suite.ts";
import { ForgetfulFiles, systemError } from "../../support/forgetful-files.ts";
import { silent } from "../../support/silent-log.ts";

const SEGMENT_BYTES = 64 << 20;

function createStore(options: Partial<FileAuditOptions>): FileAuditStore {
  return new FileAuditStore({
    files: systemFiles,
    layout: new Layout("/data"),
    now: () => 0,
    log: silent,
    durability: "sync",
    segmentBytes: SEGMENT_BYTES,
    ...options,
  });
}

function engine(make: () => FileAuditStore) {
  let store = make();
  return {
    store,
    async restart() {
      await store.close();
      store = make();
      return store;
    },
    close: () => store.close(),
  };
}

testAuditStore(async (t) => {
  const layout = await dataDirectory(t);
  const opened = engine(() => createStore({ layout }));
  t.after(() => opened.close());
  return opened;
});

// In memory, since many are needed; small segments, so that most answers come from several.
testAgainstNaive(async () => {
  const files = new ForgetfulFiles();
  const opened = engine(() => createStore({ files, segmentBytes: 2_000 }));
  let turn = 0;
  return {
    ...opened,
    async loseIndexes() {
      const directory = "/data/organizations/acme/audit";
      await opened.close();
      for (const name of await files.readDirectory(directory).catch(() => [])) {
        if (name.endsWith(".idx")) await spoil(files, `${directory}/${name}`, turn++);
      }
      return opened.restart();
    },
  };
});

testActivityAgainstNaive(async (t) => {
  const opened = engine(() => createStore({ files: new ForgetfulFiles(), segmentBytes: 2_000 }));
  t.after(() => opened.close());
  return opened;
});

test("among very many providers, the use of the named ones is still counted", async (t) => {
  const store = createStore({ files: new ForgetfulFiles() });
  t.after(() => store.close());
  await store.providerUse(ORGANIZATION, ["kubernetes"], NOON);
  const long = "x".repeat(257);
  const names = [long, ...Array.from({ length: 1_499 }, (_, i) => `./build-${i}.sh`), "kubernetes"];
  await append(
    store,
    names.map((provider) => auditEventOf({ provider })),
  );
  const { commands, byProvider } = await store.activity(ORGANIZATION, NOON);
  assert.deepEqual([commands, byProvider.length], [1_501, 1_000]);
  assert.ok(!JSON.stringify(byProvider).includes(long));
  assert.ok(!(await store.providerNames(ORGANIZATION, 10_000)).has(long));
  const use = await store.providerUse(ORGANIZATION, names.slice(1_499), NOON);
  assert.deepEqual(
    [...use].map(([name, { events, lastUsed }]) => [name, events, lastUsed]),
    [
      ["./build-1498.sh", 1, NOON],
      ["kubernetes", 1, NOON],
    ],
  );
});

/** Removes a file, or changes one of its bytes. */
async function spoil(files: ForgetfulFiles, path: string, turn: number): Promise<void> {
  const bytes = await files.readFile(path);
  if (turn % 3 === 0) return files.remove(path);
  const at = Math.floor((((turn * 7) % 20) / 20) * bytes.length);
  bytes[at] = (bytes[at] as number) ^ 0x10;
  const descriptor = await files.open(path, "w");
  await files.write(descriptor, bytes, 0);
  await files.close(descriptor);
}

async function dataDirectory(t: TestContext): Promise<Layout> {
  const root = await mkdtemp(join(tmpdir(), "signalbox-audit-"));
  t.after(() => rm(root, { recursive: true }));
  return new Layout(root);
}

async function storedOnDisk(t: TestContext, commands: readonly string[]) {
  const layout = await dataDirectory(t);
  const store = createStore({ layout });
  const events = commands.map((command) => auditEventOf({ command }));
  await append(store, events);
  await store.close();
  return { layout, events, file: join(layout.organization("acme").audit, "000000000001.jsonl") };
}

/** Collects a store's log lines: message and fields of each. */
function collectLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(
    "info",
    () => 0,
    (line) => lines.push(JSON.parse(line)),
  );
  return { log, lines };
}

test("a line of the log is the event as it was answered, and a batch's lines are JSON each", async (t) => {
  const { file, events } = await storedOnDisk(t, ["a", "ü", "c"]);
  const text = await readFile(file, "utf8");
  assert.equal(text, `${events.map((event) => JSON.stringify(event)).join(" \n")}\n`);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(join(file, ".."))).mode & 0o777, 0o700);
});

test("a torn batch is dropped as a whole, and that is logged", async (t) => {
  const { layout, file, events } = await storedOnDisk(t, ["a"]);
  await appendFile(file, `${JSON.stringify(auditEventOf())} \n{"id":"hal`);
  const { log, lines } = collectLog();
  const store = createStore({ layout, log });
  assert.deepEqual((await page(store)).events, events);
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.["file"], file);
  assert.equal(lines[0]?.["offset"], JSON.stringify(events[0]).length + 1);
  await store.close();
});

test("damaged lines and those of another organization are skipped, and that is logged", async (t) => {
  const { layout, file, events } = await storedOnDisk(t, ["a"]);
  const kept = (await stat(file)).size;
  const last = auditEventOf({ command: "last" });
  const foreign = auditEventOf({ organization_id: "other" });
  const bad = [
    Buffer.from('{"id":"broken",\n\u0000\u0000\n[1]\n{"id":"x"}\n'),
    Buffer.from(`${JSON.stringify(foreign)}\n${JSON.stringify({ ...last, timestamp: "noon" })}\n`),
    Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff]), Buffer.from('"}\n\r\n')]),
    Buffer.from(`${JSON.stringify(last)}\r\n`),
  ];
  await appendFile(file, Buffer.concat(bad));
  const { log, lines } = collectLog();
  const store = createStore({ layout, log });
  assert.deepEqual((await page(store)).events, [last, ...events]);
  assert.equal(lines.length, 1);
  assert.deepEqual([lines[0]?.["lines"], lines[0]?.["offset"]], [7, kept]);
  await store.close();
});

test("opening an organization's events is retried after a failure", async () => {
  const files = new ForgetfulFiles();
  const store = createStore({ files });
  let fault: Error | undefined = systemError("EMFILE");
  files.before = () => {
    if (fault !== undefined) throw fault;
  };
  await assert.rejects(append(store, [auditEventOf()]), { code: "EMFILE" });
  fault = undefined;
  await append(store, [auditEventOf()]);
  assert.equal((await page(store)).total, 1);
  await store.close();
  assert.equal(files.descriptors, 0);
});

test("a failed append fails its duplicates, is not shown, and may be sent again", async () => {
  const files = new ForgetfulFiles();
  const { log, lines } = collectLog();
  const store = createStore({ files, log });
  const kept = auditEventOf();
  await append(store, [kept]);
  const refused = auditEventOf({ id: "refused" });
  const other = auditEventOf();
  const held = (files.held = []);
  const results = Promise.allSettled([
    append(store, [refused]),
    append(store, [refused]),
    append(store, [other, refused]),
  ]);
  await turn();
  (held as { end(error: Error): void }[])[0]?.end(systemError("EIO"));
  files.held = undefined;
  assert.deepEqual(
    (await results).map((result) => result.status),
    ["rejected", "rejected", "rejected"],
  );
  assert.deepEqual((await page(store)).events, [kept]);
  assert.deepEqual(await append(store, [refused]), [refused]);
  assert.deepEqual((await page(store)).events, [refused, kept]);
  assert.equal(store.failure, undefined);
  assert.deepEqual(
    lines.map((line) => line["message"]),
    ["the audit log cannot be written", "the audit log can be written again"],
  );
  await store.close();
  const restarted = createStore({ files });
  assert.deepEqual((await page(restarted)).events, [refused, kept]);
});

test("an event is not shown before its sync has ended", async () => {
  const files = new ForgetfulFiles();
  const store = createStore({ files });
  await append(store, []);
  const held: { end(): void }[] = (files.held = []);
  const appended = append(store, [auditEventOf()]);
  await turn();
  assert.equal((await page(store)).total, 0);
  held[0]?.end();
  await appended;
  assert.equal((await page(store)).total, 1);
});

test("a restart finds the events of every segment", async (t) => {
  const layout = await dataDirectory(t);
  let store = createStore({ layout, segmentBytes: 1_000 });
  const events = Array.from({ length: 30 }, (_, i) => auditEventOf({ command: `c ${i}` }));
  for (const event of events) await append(store, [event]);
  const files = await readdir(layout.organization("acme").audit);
  assert.ok(files.length > 3);
  await writeFile(join(layout.organization("acme").audit, "000000000001.idx"), "not a segment");
  await store.close();
  store = createStore({ layout, segmentBytes: 1_000 });
  assert.deepEqual((await page(store)).events, events.toReversed());
  await store.close();
});

test("a closed store refuses", async () => {
  const store = createStore({ files: new ForgetfulFiles() });
  await append(store, [auditEventOf()]);
  await store.close();
  await assert.rejects(append(store, [auditEventOf()]));
  await assert.rejects(append(store, [auditEventOf()], "other"));
});

test("a directory that cannot be read stops no other organization's retention", async () => {
  const disk = new ForgetfulFiles();
  const first = createStore({ files: disk });
  for (const organization of [ORGANIZATION, "zoo"]) {
    await append(first, [auditEventOf({ organization_id: organization })], organization);
  }
  await first.close();
  const lines: string[] = [];
  const now = (): number => NOON;
  const log = createLog("error", now, (line) => void lines.push(line));
  const files = disk.restarted();
  const store = createStore({ files, log, now });
  files.before = (operation, path) => {
    const isTheirs = operation === "readDirectory" && path.includes(`/${ORGANIZATION}/`);
    if (isTheirs) throw systemError("EIO");
  };
  const removed = await store.retain(undefined, NOON + 1);
  assert.deepEqual(
    removed.map(({ organization, events }) => [organization, events]),
    [["zoo", 1]],
  );
  assert.match(lines.join(""), /"audit retention failed","organization":"acme","error":".*EIO/);
  await store.close();
});
