/**
 * Opens the audit engine over a directory in this process, runs its queries, and prints the results
 * as JSON. `engine.ts` starts it with `--expose-gc` and the arguments DIRECTORY EVENTS ROUNDS.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ingestEvent } from "../../src/audit/ingest.ts";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { createIds } from "../../src/core/ids.ts";
import { createLog } from "../../src/core/log.ts";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { FileAuditStore } from "../../src/storage/files/audit.ts";
import { IndexThreads } from "../../src/storage/files/audit/sidecar/index-threads.ts";
import { Layout } from "../../src/storage/layout.ts";
import { HISTORY_END, reports } from "../generator.ts";
import { LoopWatch, type Turn } from "../loop-watch.ts";
import { median } from "../statistics.ts";
import { choosePatterns, engineQueries, type EngineQuery } from "./queries.ts";

/** The results of one process. */
export interface EngineFindings {
  readonly openMs: number;
  /** Beyond the memory of the process before. */
  readonly residentMiB: number;
  readonly queries: readonly QueryFindings[];
  readonly appendMicroseconds: number;
  readonly batchMicroseconds: number;
}

export interface QueryFindings {
  readonly name: string;
  readonly total: number;
  /** The first run, before the code is compiled and the results of searches are cached. */
  readonly firstMs: number;
  /** The processor time of the first run, of all threads. */
  readonly firstCpuMs: number;
  readonly medianMs: number;
  readonly greatestMs: number;
  /** The longest turn of the event loop, including the first run. */
  readonly turn: Turn;
}

const ORGANIZATION = "default";
const APPENDS = 50_000;
const AT_ONCE = 64;
const BATCH = 1_000;

function openStore(directory: string): FileAuditStore {
  const log = createLog("warn", Date.now, (line) => void process.stderr.write(line));
  return new FileAuditStore({
    files: systemFiles,
    layout: new Layout(directory),
    now: Date.now,
    log,
    durability: "write",
    segmentBytes: 64 << 20,
    threads: new IndexThreads(),
  });
}

function residentMiB(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().rss / 2 ** 20);
}

async function ask(
  store: FileAuditStore,
  query: EngineQuery,
  rounds: number,
): Promise<QueryFindings> {
  const { name, filter, limit, offset } = query;
  const times: number[] = [];
  const watch = new LoopWatch();
  const before = process.cpuUsage();
  const firstMs = await timed(() => store.page(ORGANIZATION, filter, limit, offset));
  const { user, system } = process.cpuUsage(before);
  let total = Number.NaN;
  for (let round = 0; round < rounds; round++) {
    times.push(
      await timed(async () => {
        const rows = await store.page(ORGANIZATION, filter, limit, offset);
        total = rows.total;
        if (rows.returned !== Math.min(limit, Math.max(0, total - offset))) {
          throw new Error(`${name}: ${rows.returned} rows returned of ${total}`);
        }
      }),
    );
  }
  const turn = watch.stop();
  const [medianMs, greatestMs] = [median(times), Math.max(...times)];
  const firstCpuMs = (user + system) / 1_000;
  return { name, total, firstMs, firstCpuMs, medianMs, greatestMs, turn };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Appends events one batch after another, and returns the time of each in microseconds. */
async function append(directory: string, batch: number): Promise<number> {
  const store = openStore(directory);
  const ids = createIds(Date.now);
  const context = { organization: ORGANIZATION, now: Date.now(), ids };
  const sent = [...reports({ events: 1_000 })].map(({ timestamp: _, ...report }) => report);
  const draft = (i: number): AuditEvent => ingestEvent(sent[i % sent.length], "", context);
  const one = (from: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const events = Array.from({ length: batch }, (_, i) => draft(from + i));
      store.append(ORGANIZATION, events, (error) => {
        if (error instanceof Error) reject(error);
        else resolve();
      });
    });
  await one(0);
  const start = performance.now();
  const atOnce = Math.max(1, Math.floor(AT_ONCE / batch));
  for (let i = 0; i < APPENDS; i += atOnce * batch) {
    await Promise.all(Array.from({ length: atOnce }, (_, n) => one(i + n * batch)));
  }
  const elapsed = performance.now() - start;
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  return (elapsed / APPENDS) * 1_000;
}

const [directory = "", events = "0", rounds = "1"] = process.argv.slice(2);
const queries = engineQueries(choosePatterns(), Number(events));
const before = residentMiB();
const store = openStore(directory);
const start = performance.now();
await store.page(ORGANIZATION, {}, 1, 0);
const openMs = performance.now() - start;
const resident = residentMiB() - before;
const found: QueryFindings[] = [];
for (const query of queries) found.push(await ask(store, query, Number(rounds)));
const watch = new LoopWatch();
const began = process.cpuUsage();
const firstMs = await timed(() => store.activity(ORGANIZATION, HISTORY_END));
const used = process.cpuUsage(began);
const times: number[] = [];
for (let round = 0; round < Number(rounds); round++) {
  times.push(await timed(() => store.activity(ORGANIZATION, HISTORY_END)));
}
found.push({
  name: "activity of the last 24 hours",
  total: (await store.activity(ORGANIZATION, HISTORY_END)).commands,
  firstMs,
  firstCpuMs: (used.user + used.system) / 1_000,
  medianMs: median(times),
  greatestMs: Math.max(...times),
  turn: watch.stop(),
});
await store.close();
const findings: EngineFindings = {
  openMs,
  residentMiB: resident,
  queries: found,
  appendMicroseconds: await append(join(directory, "appended"), 1),
  batchMicroseconds: await append(join(directory, "appended"), BATCH),
};
process.stdout.write(JSON.stringify(findings));
