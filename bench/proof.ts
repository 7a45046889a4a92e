/**
 * Measures what signed logs cost: the processor time of ingest with and without, the start of a large log, the
 * proof of one event of it, and its check with the public key.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startService } from "./contestants.ts";
import { writeHistory } from "./generate.ts";
import { reports } from "./generator.ts";
import { usageOf } from "./machine.ts";
import type { Started } from "./processes.ts";
import { table } from "./report.ts";
import { sendAll, stopSending } from "./sending.ts";
import { median, quantile, ratioSpread } from "./statistics.ts";

const SINGLES = 12_000;
const BATCHES = 40;
const EVENTS_IN_BATCH = 1_000;
const WARM_UPS = 1;
const LARGE = { short: 1_000_000, full: 10_000_000 };
const CHECKED_EVENTS = 1_000_000;
const STARTS = 3;
const PROOFS = 300;
const SMALL_CHECKPOINTS = 10;
const INTERVAL_MS = 60_000;
const API = "/api/public/audit";
const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const SIGNED = { CHECKPOINT_SECONDS: "60" };

type Row = readonly [what: string, measured: string, most: string, isMet: boolean];

/** Measures and prints a table; false if a limit is not kept. */
export async function measureProof(
  directory: string,
  full: boolean,
  rounds: number,
): Promise<boolean> {
  const own = join(directory, "proof");
  mkdirSync(own, { mode: 0o700 });
  const rows = [
    ...(await measureIngest(own, rounds)),
    ...(await measureLarge(join(own, "large"), full)),
  ];
  const cells = rows.map(([what, measured, most, isMet]) => [
    ...[what, measured, most],
    most === "" ? "" : isMet ? "met" : "**missed**",
  ]);
  console.log(`\n### Signed logs\n\n${table(["What", "Measured", "At most", ""], cells)}\n`);
  return rows.every(([, , , isMet]) => isMet);
}

/** The processor time of a stretch of ingest, and that of signing what it stored, in milliseconds. */
interface Stretch {
  readonly ingest: number;
  readonly signing: number;
}

/** Loads two servers in turn. Each stretch is signed at its end, however short it was. */
async function measureIngest(own: string, rounds: number): Promise<readonly Row[]> {
  const start = (name: string, settings: Readonly<Record<string, string>>): Promise<Started> => {
    const directory = join(own, name);
    mkdirSync(directory, { mode: 0o700 });
    // The processor time of syncs varies more than signing takes.
    const written = { AUDIT_DURABILITY: "write", ...settings };
    return startService({ directory, history: undefined }, written);
  };
  const signed = await start("signed", SIGNED);
  const plain = await start("plain", {});
  const rows: Row[] = [];
  try {
    const events = [...reports({ events: SINGLES })];
    const singles = events.map((event) => JSON.stringify(event));
    const batches = Array.from({ length: BATCHES }, (_, i) => {
      const from = (i * EVENTS_IN_BATCH) % (SINGLES - EVENTS_IN_BATCH);
      return JSON.stringify({ events: events.slice(from, from + EVENTS_IN_BATCH) });
    });
    // What a checkpoint takes however few events it adds; there is one in 60 s, and not one for each stretch.
    let fixed = 0;
    for (let i = -WARM_UPS; i < SMALL_CHECKPOINTS; i++) {
      const { signing } = await measureStretch(signed, [], true);
      if (i >= 0) fixed += signing / SMALL_CHECKPOINTS;
    }
    rows.push(["a checkpoint of one event, and its proof", ms(fixed), "", true]);
    for (const [name, bodies, most] of [
      ["single ingest", singles, 3],
      ["batches of 1,000", batches, 10],
    ] as const) {
      const [on, off]: [Stretch[], Stretch[]] = [[], []];
      for (let round = -WARM_UPS; round < rounds; round++) {
        const order = round % 2 === 0 ? ([signed, plain] as const) : ([plain, signed] as const);
        for (const server of order) {
          const stretch = await measureStretch(server, bodies, server === signed);
          if (round >= 0) (server === signed ? on : off).push(stretch);
        }
      }
      const { median: ratio, least, greatest } = ratioSpread(on.map(wholeOf), off.map(wholeOf));
      const spread = `${percent(ratio - 1)} (${percent(least - 1)} to ${percent(greatest - 1)})`;
      rows.push([`${name}, processor time more than unsigned`, spread, "", true]);
      const shares = on.map(
        ({ ingest, signing }) => (signing - fixed) / ingest + fixed / INTERVAL_MS,
      );
      const share = median(shares);
      const isMet = share * 100 <= most;
      rows.push([
        `${name}, signing beside storing, a checkpoint in 60 s`,
        percent(share),
        `${most} %`,
        isMet,
      ]);
    }
  } finally {
    stopSending();
    await Promise.all([signed.stop(), plain.stop()]);
  }
  return rows;
}

function wholeOf({ ingest, signing }: Stretch): number {
  return ingest + signing;
}

let lastId = 0;

async function measureStretch(
  { url, pid }: Started,
  bodies: readonly string[],
  isSigned: boolean,
): Promise<Stretch> {
  const id = `last-${lastId++}`;
  const before = usageOf(pid).cpuMs;
  await sendAll(url, bodies);
  await sendAll(url, [JSON.stringify({ id, command: "git log" })]);
  const stored = usageOf(pid).cpuMs;
  // The proof of the last event signs all that are not signed yet.
  await expectText(`${url}${API}/${id}${isSigned ? "/proof" : ""}`);
  return { ingest: stored - before, signing: usageOf(pid).cpuMs - stored };
}

async function measureLarge(directory: string, full: boolean): Promise<readonly Row[]> {
  const events = full ? LARGE.full : LARGE.short;
  writeHistory(directory, { events });
  const start = (settings: Readonly<Record<string, string>>): Promise<Started> =>
    startService({ directory, history: directory }, settings);
  const unsigned = await start({});
  await expectText(`${unsigned.url}${API}?limit=1`); // which waits until the indexes are made
  await unsigned.stop();
  const server = await start(SIGNED);
  const [began, beganCpuMs] = [performance.now(), usageOf(server.pid).cpuMs];
  const key = (await expectText(`${server.url}${API}/verifier`)).trim();
  await expectText(`${server.url}${API}/checkpoint`);
  const firstMs = performance.now() - began;
  const firstCpuMs = usageOf(server.pid).cpuMs - beganCpuMs;
  const { times, cpuMs } = await timeProofs(server, events);
  await server.stop();
  const [on, off]: [number[], number[]] = [[], []];
  for (let i = 0; i < STARTS; i++) {
    for (const [settings, into] of [
      [SIGNED, on],
      [{}, off],
    ] as const) {
      const from = performance.now();
      const started = await start(settings);
      into.push(performance.now() - from);
      await started.stop();
    }
  }
  const later = median(on) - median(off);
  const name = events.toLocaleString("en");
  const p50 = median(times);
  const rows: Row[] = [
    [
      `first checkpoint over ${name} events: elapsed; processor time`,
      `${seconds(firstMs)}; ${seconds(firstCpuMs)}`,
      "",
      true,
    ],
    [`proof of one of ${name} events, median of ${PROOFS}`, ms(p50), "", true],
    ["the same, p99", ms(quantile(times, 0.99)), "", true],
    ["the same, processor time of each", ms(cpuMs), "5 ms", cpuMs <= 5],
    [`start with ${name} events, unsigned`, seconds(median(off)), "", true],
    ["start of the signed log, later than that", seconds(later), "0.3 s", later <= 300],
  ];
  return [...rows, ...measureCheck(directory, key, events)];
}

/** The time of each proof, of events that are spread over the log. */
async function timeProofs(
  { url, pid }: Started,
  events: number,
): Promise<{ readonly times: readonly number[]; readonly cpuMs: number }> {
  const ids: string[] = [];
  for (let page = 0; page < 3; page++) {
    const offset = Math.floor((events * page) / 3);
    const text = await expectText(`${url}${API}?limit=${PROOFS / 3}&offset=${offset}`);
    const found = JSON.parse(text) as { readonly events: readonly { readonly id: string }[] };
    ids.push(...found.events.map(({ id }) => id));
  }
  await expectText(`${url}${API}/${ids[0]}/proof`);
  const times: number[] = [];
  const before = usageOf(pid).cpuMs;
  for (const id of ids) {
    const from = performance.now();
    const proof = await expectText(`${url}${API}/${id}/proof`);
    times.push(performance.now() - from);
    if (!proof.startsWith("c2sp.org/tlog-proof@v1\n")) throw new Error(`${id}: not a proof`);
  }
  return { times, cpuMs: (usageOf(pid).cpuMs - before) / times.length };
}

/** The duration of `signalbox verify` with the key, which uses two processors, and without it; and the processor time. */
function measureCheck(directory: string, key: string, events: number): readonly Row[] {
  const name = `verify of ${events.toLocaleString("en")} events`;
  const plain = timeCommand([CLI, "verify", directory]);
  const keyed = timeCommand([CLI, "verify", directory, "--key", key]);
  const most = (6_000 * events) / CHECKED_EVENTS;
  return [
    [`${name} without --key: elapsed`, seconds(plain.ms), "", true],
    ["the same, processor time", seconds(plain.cpuMs), "", true],
    [`${name} with --key: elapsed`, seconds(keyed.ms), seconds(most), keyed.ms <= most],
    ["the same, processor time", seconds(keyed.cpuMs), "", true],
  ];
}

function timeCommand(args: readonly string[]): { readonly ms: number; readonly cpuMs: number } {
  const [from, cpuFrom] = [performance.now(), childrenMs()];
  execFileSync(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  return { ms: performance.now() - from, cpuMs: childrenMs() - cpuFrom };
}

/** The processor time of the children that have ended, in milliseconds; Linux only. */
function childrenMs(): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function expectText(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function seconds(value: number): string {
  return `${(value / 1_000).toFixed(2)} s`;
}
