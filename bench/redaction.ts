/**
 * The price of redaction: the processor time of ingest with `AUDIT_REDACTION=on` against `off`, on two servers in turn.
 *
 * Usage: node --import tsx bench/redaction.ts [ROUNDS]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reports } from "./generator.ts";
import { type Started, startProcess } from "./processes.ts";
import { sendAll, stopSending } from "./sending.ts";
import { ratioSpread } from "./statistics.ts";

const SINGLE_EVENTS = 4_000;
const BATCHES = 15;
const EVENTS_IN_BATCH = 1_000;

const rounds = Number(process.argv[2] ?? 10);
const events = [...reports({ events: SINGLE_EVENTS })];
const singles = events.map((event) => JSON.stringify(event));
const batches = Array.from({ length: BATCHES }, (_, i) => {
  const from = (i * EVENTS_IN_BATCH) % (SINGLE_EVENTS - EVENTS_IN_BATCH);
  return JSON.stringify({ events: events.slice(from, from + EVENTS_IN_BATCH) });
});

/** Milliseconds of processor time of all threads of a process so far; Linux only. */
function processorTime(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const times = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8"));
  return times.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e6;
}

/** Sends all bodies. Returns the server's processor time in milliseconds. */
async function timed({ url, pid }: Started, bodies: readonly string[]): Promise<number> {
  const before = processorTime(pid);
  await sendAll(url, bodies);
  return processorTime(pid) - before;
}

const directory = mkdtempSync(join(tmpdir(), "signalbox-redaction-"));
const [on, off] = await Promise.all(
  ["on", "off"].map((value) =>
    startProcess(["--import", "tsx", "src/server.ts"], {
      AUDIT_REDACTION: value,
      AUDIT_DURABILITY: "write", // the processor time of syncs varies more than redaction takes
      DATA_DIR: join(directory, value),
      LOG_LEVEL: "warn",
      PORT: "0",
    }),
  ),
);
if (!on || !off) throw new Error("The servers did not start");
for (const [name, bodies, most] of [
  ["single ingest", singles, 3],
  ["batches of 1,000", batches, 8],
] as const) {
  const times: Record<"on" | "off", number[]> = { on: [], off: [] };
  for (let warming = 0; warming < 3; warming++) {
    await timed(on, bodies);
    await timed(off, bodies);
  }
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0;
    if (first) times.on.push(await timed(on, bodies));
    times.off.push(await timed(off, bodies));
    if (!first) times.on.push(await timed(on, bodies));
  }
  const { median, least, greatest } = ratioSpread(times.on, times.off);
  const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;
  console.log(
    `${name}: ${percent(median)} (${percent(least)} to ${percent(greatest)}), at most ${most} %`,
  );
}
stopSending();
await Promise.all([on.stop(), off.stop()]);
rmSync(directory, { recursive: true, force: true });
