/**
 * Acknowledged data survives a power cut at any moment, after any faults of the disk. Each run is a random
 * mix of work, faults and turns of the event loop.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { AppendLog } from "../../src/storage/append-log.ts";
import { makeDurableDirectory } from "../../src/storage/directories.ts";
import type { FileOperations } from "../../src/storage/file-operations.ts";
import { FileAuditStore } from "../../src/storage/files/audit.ts";
import { Layout } from "../../src/storage/layout.ts";
import { readLines } from "../../src/storage/log-lines.ts";
import { readSnapshot, writeSnapshot } from "../../src/storage/snapshot.ts";
import { auditEventOf, page } from "../audit/store-suite.ts";
import { ForgetfulFiles, systemError } from "../support/forgetful-files.ts";
import type { Choose } from "../support/forgetful-node.ts";
import { silent } from "../support/silent-log.ts";

const operations = ["fdatasync", "fsync", "writeSync", "truncate", "open", "write"] as const;
const someWork = fc.oneof(
  { weight: 5, arbitrary: fc.record({ append: fc.nat(3), size: fc.constantFrom(1, 50, 5_000) }) },
  { weight: 5, arbitrary: fc.record({ turns: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ fault: fc.constantFrom(...operations), after: fc.nat(2) }) },
);
const someRun = fc.array(someWork, { maxLength: 30 });
const someParts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  minLength: 8,
  maxLength: 8,
});

type Run = (typeof someRun extends fc.Arbitrary<infer T> ? T : never)[number];

/** Keeps a different part of each unsynced write. */
function choosing(parts: readonly number[]): Choose {
  let next = 0;
  return (limit, of) =>
    of === "pages" ? limit : Math.round(limit * (parts[next++ % parts.length] ?? 0));
}

/** Makes an operation of a kind fail after some successful ones. */
function failOnce(files: ForgetfulFiles, fault: keyof FileOperations, after: number): void {
  let left = after;
  files.before = (operation) => {
    if (operation === fault && left-- === 0) throw systemError("EIO");
  };
}

async function work(files: ForgetfulFiles, run: readonly Run[], append: (size: number) => void) {
  for (const step of run) {
    if ("turns" in step) for (let i = 0; i < step.turns; i++) await turn();
    else if ("fault" in step) failOnce(files, step.fault, step.after);
    else for (let i = 0; i < step.append; i++) append(step.size);
  }
}

function openLog(files: ForgetfulFiles, last?: number): Promise<AppendLog> {
  const pathOf = (sequence: number): string => `/log/${sequence}`;
  let ticks = 0; // every reading of the clock is a second later, so that faults do not last
  const now = (): number => (ticks += 1_000);
  return AppendLog.open({ files, now, pathOf, full: (size) => size > 10_000 }, last);
}

async function linesOf(files: ForgetfulFiles): Promise<string[]> {
  const lines: string[] = [];
  const names = (await files.readDirectory("/log")).map(Number).sort((a, b) => a - b);
  for (const name of names) {
    await readLines(files, `/log/${name}`, (line) => void lines.push(String(line)));
  }
  return lines;
}

async function startLog(run: readonly Run[]) {
  const files = new ForgetfulFiles();
  await makeDurableDirectory(files, "/log", "/");
  const log = await openLog(files);
  const given: string[] = [];
  const stored: string[] = [];
  await work(files, run, (size) => {
    const text = `${given.length} ${"x".repeat(size)}`;
    given.push(text);
    log.append(`${text}\n`, "sync", (error) => {
      if (error === null) stored.push(text);
    });
  });
  return { files, log, given, stored };
}

test("a power cut neither loses, moves nor splits an acknowledged append", async () => {
  await fc.assert(
    fc.asyncProperty(someRun, someParts, async (run, parts) => {
      const { files, given, stored } = await startLog(run);
      const before = [...stored];
      const after = files.powerCut(choosing(parts));
      const names = (await after.readDirectory("/log")).map(Number);
      const log = await openLog(after, Math.max(...names));
      const found = await linesOf(after);
      assert.deepEqual(
        found.filter((line) => before.includes(line)),
        before,
      );
      const whole = found.filter((line) => !/^\0/.test(line)); // lost pages of refused text
      assert.ok(whole.every((line) => given.some((text) => text === line || text.endsWith(line))));
      await log.close();
    }),
    { numRuns: 300 },
  );
});

test("after a close the log has all acknowledged text, and nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(someRun, async (run) => {
      const { files, log, stored } = await startLog(run);
      files.before = () => {};
      await log.close();
      assert.deepEqual(await linesOf(files), stored);
      assert.deepEqual(await linesOf(files.powerCut(() => 0)), stored);
    }),
    { numRuns: 300 },
  );
});

test("audit batches survive a power cut as a whole or not at all", async () => {
  await fc.assert(
    fc.asyncProperty(someRun, someParts, async (run, parts) => {
      const files = new ForgetfulFiles();
      await makeDurableDirectory(files, "/data", "/");
      const store = openStore(files);
      const batches: string[][] = [];
      const stored = new Set<string>();
      const onlyAppends = run.filter((step) => !("fault" in step));
      await work(files, onlyAppends, (size) => {
        const batch = [1, 2, 3].map(() => auditEventOf({ command: "ü".repeat(size) }));
        const ids = batch.map(({ id }) => id);
        batches.push(ids);
        store.append("acme", batch, (error) => {
          if (error === null) for (const id of ids) stored.add(id);
        });
      });
      const before = new Set(stored);
      const restarted = openStore(files.powerCut(choosing(parts)));
      const { events } = await page(restarted, {}, 1_000);
      const found = new Set(events.map(({ id }) => id));
      for (const id of before) assert.ok(found.has(id));
      for (const ids of batches) {
        assert.equal(new Set(ids.map((id) => found.has(id))).size, 1, "half a batch");
      }
      await restarted.close();
    }),
    { numRuns: 150 },
  );
});

function openStore(files: ForgetfulFiles): FileAuditStore {
  return new FileAuditStore({
    files,
    layout: new Layout("/data"),
    now: () => 0,
    log: silent,
    durability: "sync",
    segmentBytes: 30_000,
  });
}

test("a snapshot is the last acknowledged one or one under way, never damaged", async () => {
  await fc.assert(
    fc.asyncProperty(someRun, someParts, async (run, parts) => {
      const files = new ForgetfulFiles();
      await makeDurableDirectory(files, "/data", "/");
      let last = Promise.resolve();
      let count = 0;
      let acknowledged = 0;
      await work(files, run, (size) => {
        const value = { count: ++count, text: "x".repeat(size) };
        last = last.then(() =>
          writeSnapshot(files, "/data/a.json", value).then(
            () => void (acknowledged = value.count),
            () => {},
          ),
        );
      });
      const before = acknowledged;
      const after = files.powerCut(choosing(parts));
      const found = (await readSnapshot(after, "/data/a.json")) as { count: number } | undefined;
      const number = found?.count ?? 0;
      assert.ok(number >= before && number <= count, `${number} is none of ${before} to ${count}`);
      await last;
    }),
    { numRuns: 300 },
  );
});
