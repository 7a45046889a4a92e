/**
 * The price of redaction: the processor time of ingest with `AUDIT_REDACTION=on` against `off`, on two servers in turn.
 *
 * Usage: node --import tsx bench/redaction.ts [ROUNDS]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reports } from "./generator.ts";
import { type Started, startProcess } from "./processes.ts";
import { ratioSpread } from "./statistics.ts";

const AT_ONCE = 32;
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
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

/** Milliseconds of processor time of all threads of a process so far; Linux only. */
function processorTime(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const times = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8"));
  return times.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e6;
}

function post(url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const sent = request(
      `${url}/api/public/audit`,
      { method: "POST", agent, headers },
      (answer) => {
        answer.resume().once("end", () => {
          if (answer.statusCode === 202) resolve();
          else reject(new Error(`The server answered ${answer.statusCode}`));
        });
      },
    );
    sent.once("error", reject).end(body);
  });
}

/** Sends all bodies, some at a time. Returns the server's processor time in milliseconds. */
async function sendAll({ url, pid }: Started, bodies: readonly string[]): Promise<number> {
  const before = processorTime(pid);
  let next = 0;
  const send = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
      await post(url, body);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
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
    await sendAll(on, bodies);
    await sendAll(off, bodies);
  }
  for (let round = 0; round < rounds; round++) {
    const first = round % 2 === 0;
    if (first) times.on.push(await sendAll(on, bodies));
    times.off.push(await sendAll(off, bodies));
    if (!first) times.on.push(await sendAll(on, bodies));
  }
  const { median, least, greatest } = ratioSpread(times.on, times.off);
  const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;
  console.log(
    `${name}: ${percent(median)} (${percent(least)} to ${percent(greatest)}), at most ${most} %`,
  );
}
agent.destroy();
await Promise.all([on.stop(), off.stop()]);
rmSync(directory, { recursive: true, force: true });
