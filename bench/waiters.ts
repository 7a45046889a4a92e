/**
 * Measures 10,000 runtimes that wait for another policy version: the memory that they take, and how soon a publish
 * has reached all of them.
 */
import { mkdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "./contestants.ts";
import { usageOf } from "./machine.ts";
import type { Started } from "./processes.ts";
import { table } from "./report.ts";
import { median } from "./statistics.ts";

const WAITERS = 10_000;
const OPENED_AT_ONCE = 250;
const PUBLISHES = 5;
const PATH = "/api/public/policies";
const RULES = 50;
const REST_MS = 3_000;
/** After half a minute without much work, V8 gives back the memory of what the requests have left. */
const SETTLED_MS = 45_000;

/** Measures and prints a table; false if a limit is not kept. */
export async function measureWaiters(directory: string): Promise<boolean> {
  const own = join(directory, "waiters");
  mkdirSync(own, { mode: 0o700 });
  const settings = { METRICS: "open", MAX_CONNECTIONS: "20000" };
  const server = await startService({ directory: own, history: undefined }, settings);
  const sockets: Socket[] = [];
  try {
    await publish(server, 0);
    for (let i = 0; i < 2_000; i++) await (await fetch(`${server.url}${PATH}?active=true`)).text();
    const before = usageOf(server.pid).residentBytes;
    const received = { answers: 0 };
    for (let i = 0; i < WAITERS; i += OPENED_AT_ONCE) {
      sockets.push(...(await open(server.url, received)));
    }
    ask(sockets, await tagOf(server));
    await untilWaiting(server);
    await sleep(REST_MS);
    const growth = (): number => (usageOf(server.pid).residentBytes - before) / 2 ** 20;
    const atFirst = growth();
    const idleBefore = usageOf(server.pid).cpuMs;
    await sleep(REST_MS);
    const idle = ((usageOf(server.pid).cpuMs - idleBefore) / REST_MS) * 100;
    const times: number[] = [];
    for (let version = 1; version <= PUBLISHES; version++) {
      received.answers = 0;
      const began = performance.now();
      await publish(server, version);
      while (received.answers < WAITERS) await sleep(2);
      times.push(performance.now() - began);
      ask(sockets, await tagOf(server));
      await untilWaiting(server);
    }
    await sleep(SETTLED_MS);
    return report({ atFirst, settled: growth() }, idle, times);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.stop();
  }
}

/** The memory that the server takes more than without those who wait, in MiB. */
interface Growth {
  readonly atFirst: number;
  readonly settled: number;
}

function report({ atFirst, settled }: Growth, idle: number, times: readonly number[]): boolean {
  const slowest = Math.max(...times);
  const rows = [
    [`memory ${REST_MS / 1_000} s after ${WAITERS} came`, `${atFirst.toFixed(0)} MiB`, "", ""],
    [
      `memory when they have waited ${SETTLED_MS / 1_000} s`,
      `${settled.toFixed(0)} MiB`,
      "100 MiB",
      verdict(settled, 100),
    ],
    ["share of a processor while they wait", `${idle.toFixed(1)} %`, "", ""],
    ["all answered after a publish, median", `${median(times).toFixed(0)} ms`, "", ""],
    [
      `all answered, the slowest of ${times.length}`,
      `${slowest.toFixed(0)} ms`,
      "2000 ms",
      verdict(slowest, 2_000),
    ],
  ];
  console.log(`\n### Waiting runtimes\n\n${table(["What", "Measured", "At most", ""], rows)}\n`);
  return settled <= 100 && slowest <= 2_000;
}

function verdict(value: number, most: number): string {
  return value <= most ? "met" : "**missed**";
}

async function publish({ url }: Started, version: number): Promise<void> {
  const rule = (i: number) =>
    `  - { id: rule-${i}, effect: deny, match: { commands: [{ prefix: tool-${i} delete }] } }`;
  const rules = Array.from({ length: RULES }, (_, i) => rule(i));
  const yaml = ["schema: signalbox/policy/v1", "default: allow", "rules:", ...rules, ""].join("\n");
  const body = JSON.stringify({ version: `v${version}`, yaml });
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url + PATH, { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(await answer.text());
}

async function tagOf({ url }: Started): Promise<string> {
  const answer = await fetch(`${url}${PATH}?active=true`);
  await answer.text();
  return answer.headers.get("etag") ?? "";
}

/** Opens some connections; each counts the answers with a new version. */
function open(url: string, received: { answers: number }): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url);
  const one = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket));
      socket.once("error", reject);
      socket.on("data", (chunk: Buffer) => {
        if (chunk.includes("HTTP/1.1 200 ")) received.answers++;
      });
    });
  return Promise.all(Array.from({ length: OPENED_AT_ONCE }, one));
}

/** Makes every connection wait. */
function ask(sockets: readonly Socket[], etag: string): void {
  for (const [at, socket] of sockets.entries()) {
    socket.write(
      `GET ${PATH}?active=true&wait=60 HTTP/1.1\r\nHost: localhost\r\n` +
        `X-Runtime-Name: laptop-${at}\r\nIf-None-Match: ${etag}\r\n\r\n`,
    );
  }
}

async function untilWaiting({ url }: Started): Promise<void> {
  const line = `signalbox_waiting_fetches ${WAITERS}`;
  while (!(await (await fetch(`${url}/metrics`)).text()).split("\n").includes(line)) {
    await sleep(20);
  }
}
