import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import { createLog } from "../../../src/core/log.ts";
import type { FileFleet } from "../../../src/storage/files/fleet.ts";
import { all, report } from "../../fleet/store-suite.ts";
import { systemError, type ForgetfulFiles } from "../../support/forgetful-files.ts";
import { directory, fleetLog, fleetSnapshot, newFiles, open, T0 } from "./fleet-engine.ts";

const FOLD_AT = 200; // bytes: three reports

/** Waits until the organization's directory holds exactly these files. */
async function untilFiles(files: ForgetfulFiles, ...expected: string[]): Promise<void> {
  for (let turn = 0; turn < 1_000; turn++) {
    const names = await files.readDirectory(directory);
    if (names.sort().join() === expected.join()) return;
    await nextTurn();
  }
  assert.deepEqual((await files.readDirectory(directory)).sort(), expected);
}

test("a log that has grown is folded into a snapshot and goes on in a new file", async () => {
  const files = await newFiles();
  const store = await open(files, FOLD_AT);
  for (let i = 0; i < 4; i++)
    await report(store, "default", { name: `r${i}`, os: "linux" }, T0 + i);
  await untilFiles(files, "fleet-2.jsonl", "fleet.json");
  const snapshot = JSON.parse(files.text(fleetSnapshot)) as { log: number; runtimes: unknown[] };
  assert.equal(snapshot.log, 2);
  assert.deepEqual(snapshot.runtimes[0], {
    organization_id: "default",
    name: "r0",
    os: "linux",
    last_seen: "2026-11-20T20:30:00.000Z",
  });
  const rows = await all(store, "default");
  assert.equal(rows.length, 4);
  assert.deepEqual(
    await all(
      await open(
        files.powerCut(() => 0),
        300,
      ),
      "default",
    ),
    rows,
  );
});

type Model = Map<string, { readonly version: string; readonly last_seen: number }>;

/** The answers of a run until the disk stopped, and the fleet including the last, unanswered report. */
async function runUntil(stopped: Promise<void>, store: FileFleet): Promise<[Model, Model]> {
  let isStopped = false;
  const stop = stopped.then(() => {
    isStopped = true;
  });
  let answered: Model = new Map();
  for (let i = 0; i < 24; i++) {
    const name = `r${i % 7}`;
    const next: Model = new Map(answered);
    next.delete(name);
    let step: Promise<unknown>;
    if (i % 11 === 10) step = store.forget("default", name);
    else {
      next.set(name, { version: `${i}`, last_seen: T0 + i });
      step = report(store, "default", { name, version: `${i}` }, T0 + i);
    }
    await Promise.race([step, stop]).catch(() => stop);
    if (isStopped) return [answered, next];
    answered = next;
  }
  return [answered, answered];
}

function modelOf(rows: Awaited<ReturnType<typeof all>>): Model {
  return new Map(
    rows.toReversed().map(({ name, version = "", last_seen }) => [name, { version, last_seen }]),
  );
}

/** Runs until one operation on the snapshot or a later log file; `undefined` if it never comes. */
async function stopAt(operation: number, crash: (files: ForgetfulFiles) => ForgetfulFiles) {
  const files = await newFiles();
  const store = await open(files, FOLD_AT);
  let count = 0;
  let after: ForgetfulFiles | undefined;
  const stopped = new Promise<void>((resolve) => {
    files.before = (_, path) => {
      if (!path.includes("fleet.json.") && !path.includes("fleet-") && path !== directory) return;
      if (++count !== operation) return;
      after = crash(files);
      resolve();
      throw new Error("Killed");
    };
  });
  const models = await runUntil(stopped, store);
  await untilFolded(stopped, store);
  if (!after) return undefined;
  return { models, found: await all(await open(after, FOLD_AT), "default") };
}

/**
 * Waits for the folding, since a crash may also hit a snapshot that is still being written after the last
 * answer.
 */
async function untilFolded(stopped: Promise<void>, store: FileFleet): Promise<void> {
  await Promise.race([stopped, store.close().catch(() => {})]);
}

test("a process killed at any operation of the folding loses nothing that was answered", async () => {
  let operations = 0;
  for (;;) {
    const end = await stopAt(operations + 1, (files) => files.restarted());
    if (!end) break;
    operations++;
    const [answered, next] = end.models;
    const found = JSON.stringify([...modelOf(end.found)]);
    const allowed = [answered, next].map((model) => JSON.stringify([...model]));
    assert.ok(allowed.includes(found), `operation ${operations}: ${found} is none of ${allowed}`);
  }
  assert.ok(operations > 50, `only ${operations} operations`);
});

for (const kept of ["nothing", "everything"] as const) {
  test(`a power cut at any operation loses no runtime, if it keeps ${kept} unsynced`, async () => {
    const choose = (limit: number) => (kept === "nothing" ? 0 : limit);
    for (let operation = 1; ; operation++) {
      const end = await stopAt(operation, (files) => files.powerCut(choose));
      if (!end) break;
      const found = [...modelOf(end.found).keys()].sort().join();
      const allowed = end.models.map((model) => [...model.keys()].sort().join());
      assert.ok(allowed.includes(found), `operation ${operation}: ${found}, not ${allowed}`);
    }
  });
}

test("a snapshot that cannot be written loses nothing, and is written later", async () => {
  const files = await newFiles();
  const warnings: string[] = [];
  const log = createLog(
    "warn",
    () => T0,
    (line) => warnings.push(line),
  );
  const store = await open(files, FOLD_AT, log);
  files.before = (operation, path) => {
    if (operation === "rename" && path.startsWith(fleetSnapshot)) throw systemError("EIO");
  };
  for (let i = 0; i < 8; i++) await report(store, "default", { name: `r${i}` }, T0 + i);
  await turns(50);
  assert.match(warnings.join(""), /the fleet's snapshot cannot be written/);
  const rows = await all(store, "default");
  assert.deepEqual(
    await all(
      await open(
        files.powerCut(() => 0),
        FOLD_AT,
      ),
      "default",
    ),
    rows,
  );
});

test("a stray file of an interrupted snapshot, and logs that a snapshot includes, are leftovers", async () => {
  const files = await newFiles();
  const store = await open(files, FOLD_AT);
  for (let i = 0; i < 6; i++) await report(store, "default", { name: `r${i}` }, T0 + i);
  await store.close();
  const next = await open(files.restarted(), FOLD_AT);
  await next.close();
  const rows = await all(next, "default");
  const again = files.restarted();
  const stale =
    '{"organization_id":"default","name":"ghost","last_seen":"2026-11-20T20:30:00.000Z"}\n';
  await again.write(await again.open(fleetLog, "w"), Buffer.from(stale), 0);
  await again.write(await again.open(`${fleetSnapshot}.tmp`, "w"), Buffer.from("{"), 0);
  assert.deepEqual(await all(await open(again, FOLD_AT), "default"), rows);
});

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}
