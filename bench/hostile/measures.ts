/** The measurements: the effect of many simultaneous, slow or large requests on others. */
import { setTimeout as sleep } from "node:timers/promises";
import { reports } from "../generator.ts";
import type { Started } from "../processes.ts";
import {
  countsOf,
  growth,
  latencies,
  requireStatuses,
  watchMemory,
  WrongAnswer,
  type Finding,
} from "./finding.ts";
import { open, openUnread, post, timed, type Framing } from "./wire.ts";

const AUDIT = "/api/public/audit";
const MIB = 1 << 20;
const MEMORY_TARGET = 200;
/** The user who signs in. */
export const ADMIN = { email: "bench@example.com", password: "a password of the bench" };
/** The settings of the server of `logins`. */
export const ADMIN_SETTINGS = {
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  TRUST_PROXY: "1", // the sign-ins come from different addresses, since the throttle would refuse them otherwise
};

const samples = [...reports({ events: 64, seed: 11 })].map(({ timestamp: _, ...event }) => event);

/** 1,500 connections without a request and 300 with half a body, and the time of `/health` meanwhile. */
export async function idleAndHalfSent({ url }: Started): Promise<readonly Finding[]> {
  const half = [
    `POST ${AUDIT} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    "Content-Length: 60000",
    "",
    `{"command":"${"x".repeat(30_000)}`,
  ].join("\r\n");
  const idle = await Promise.all(Array.from({ length: 1_500 }, () => open(url)));
  const stalled = await Promise.all(Array.from({ length: 300 }, () => open(url, half)));
  const sockets = [...idle, ...stalled];
  const asked = await inTurn(400, () => timed(`${url}/health`));
  const held = sockets.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) socket.destroy();
  if (held < sockets.length) throw new WrongAnswer(`Only ${held} connections were still held`);
  return [latencies("/health beside 1,500 idle sockets and 300 half bodies", asked, 0.99, 100)];
}

/** 40 large bodies at once, refused by their declared length. */
export function declaredBodies(server: Started): Promise<readonly Finding[]> {
  const pieces = Array<Buffer>(30).fill(Buffer.alloc(MIB, "x"));
  return bodies(server, "40 bodies of 30 MiB, declared", pieces, "declared", [413]);
}

/** 40 chunked bodies just under the limit that are not JSON. */
export function chunkedBodies(server: Started): Promise<readonly Finding[]> {
  const pieces = Array<Buffer>(127).fill(Buffer.alloc(MIB / 16, "x"));
  const what = "40 chunked bodies of 7.9 MiB, no JSON";
  return bodies(server, what, pieces, "chunked", [400, 503]);
}

/** 40 valid chunked batches just under the limit, each stored whole or refused whole. */
export async function chunkedBatches(server: Started): Promise<readonly Finding[]> {
  const count = 8_000;
  const events = Array.from({ length: count }, (_, i) => ({
    ...samples[i % samples.length],
    message: "m".repeat(500),
  }));
  const batch = Buffer.from(JSON.stringify({ events }));
  if (batch.length > 8 * MIB) throw new Error(`The batch is ${batch.length} bytes long`);
  const pieces = Array.from({ length: Math.ceil(batch.length / (MIB / 16)) }, (_, i) =>
    batch.subarray((i * MIB) / 16, ((i + 1) * MIB) / 16),
  );
  const before = await total(server);
  const what = `40 chunked batches of ${(batch.length / MIB).toFixed(1)} MiB, valid`;
  let stored = 0;
  const findings = await bodies(server, what, pieces, "chunked", [202, 503], (statuses) => {
    stored = statuses.filter((status) => status === 202).length * count;
  });
  const grown = (await total(server)) - before;
  if (grown !== stored) throw new WrongAnswer(`${stored} events were accepted, ${grown} are there`);
  return findings;
}

async function bodies(
  { url, pid }: Started,
  what: string,
  pieces: readonly Buffer[],
  framing: Framing,
  right: readonly number[],
  see: (statuses: readonly number[]) => void = () => {},
): Promise<readonly Finding[]> {
  const grown = watchMemory(pid);
  const statuses = await Promise.all(Array.from({ length: 40 }, () => post(url, pieces, framing)));
  // A client that is refused while it still sends may see the connection end before the response.
  requireStatuses(what, statuses, framing === "declared" ? [...right, 0] : right);
  see(statuses);
  return [growth(`${what} (${countsOf(statuses)}): memory`, grown(), MEMORY_TARGET)];
}

/** 60 sign-ins at once, and the time of an ingest until the last of them is answered. */
export async function logins({ url }: Started): Promise<readonly Finding[]> {
  const alone = await inTurn(200, () => ingest(url));
  let left = 60;
  const answers = Promise.all(
    Array.from({ length: left }, async (_, i) => {
      const { status } = await timed(`${url}/api/v1/auth/login`, {
        method: "POST",
        body: JSON.stringify(ADMIN),
        headers: { "X-Forwarded-For": `192.0.2.${i + 1}` },
      });
      left--;
      return status;
    }),
  );
  const meanwhile: number[] = [];
  while (left > 0) meanwhile.push(...(await inTurn(10, () => ingest(url))));
  const statuses = await answers;
  requireStatuses("60 logins at once", statuses, [200, 429]);
  const letIn = statuses.filter((status) => status === 200).length;
  if (letIn === 0) throw new WrongAnswer("None of 60 right passwords was accepted");
  return [
    latencies("ingest before the logins", alone, 0.95),
    latencies(`ingest beside 60 logins (${letIn} × 200)`, meanwhile, 0.95, 150),
  ];
}

/** Readers that take nothing: 100 streams and 60 exports of a history, while events continue to arrive. */
export async function slowReaders(server: Started): Promise<readonly Finding[]> {
  const { url, pid } = server;
  const before = await total(server);
  const batch = JSON.stringify({
    events: Array.from({ length: 1_000 }, (_, i) => samples[i % 64]),
  });
  const send = () => timed(url + AUDIT, { method: "POST", body: batch });
  requireStatuses("ingest", [(await send()).status], [202]);
  const grown = watchMemory(pid);
  const readers = await Promise.all([
    ...Array.from({ length: 100 }, () => openUnread(url, `${AUDIT}/stream`)),
    ...Array.from({ length: 60 }, () => openUnread(url, `${AUDIT}/export?format=ndjson`)),
  ]);
  await inTurn(20, send, [202]);
  await sleep(1_000); // the excess is cut within a second
  const held = grown();
  const health = await inTurn(100, () => timed(`${url}/health`));
  for (const reader of readers) reader.destroy();
  const stored = (await total(server)) - before;
  if (stored !== 21_000) throw new WrongAnswer(`21,000 events were sent, ${stored} are there`);
  return [
    growth("100 streams and 60 exports that nobody reads: memory", held, MEMORY_TARGET),
    latencies("/health beside them", health, 0.99, 100),
  ];
}

/** The time of an ingest while four clients search the text of a history over and over. */
export async function searches({ url }: Started): Promise<readonly Finding[]> {
  const alone = await inTurn(300, () => ingest(url));
  const stop = performance.now() + 10_000;
  const search = async (text: string): Promise<number> => {
    let asked = 0;
    // Another text each time, since the answer would be cached otherwise.
    while (performance.now() < stop) {
      const q = encodeURIComponent(`${text}${asked++ % 10}`);
      requireStatuses("search", [(await timed(`${url}${AUDIT}?q=${q}`)).status], [200]);
    }
    return asked;
  };
  const scans = Promise.all(["1", "team-1", "web", "get"].map(search));
  const meanwhile: number[] = [];
  while (performance.now() < stop) meanwhile.push(...(await inTurn(10, () => ingest(url))));
  const count = (await scans).reduce((sum, asked) => sum + asked, 0);
  return [
    latencies("ingest into 1,000,000 events", alone, 0.99),
    latencies(`ingest beside ${count} searches of them`, meanwhile, 0.99),
  ];
}

function ingest(url: string) {
  return timed(url + AUDIT, { method: "POST", body: JSON.stringify(samples[0]) });
}

async function total({ url }: Started): Promise<number> {
  const response = await fetch(`${url}${AUDIT}?limit=1`);
  return ((await response.json()) as { readonly total: number }).total;
}

/** Sends requests one after the other. */
async function inTurn(
  count: number,
  ask: () => Promise<{ readonly status: number; readonly ms: number }>,
  right: readonly number[] = [200, 202],
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const { status, ms } = await ask();
    requireStatuses("A plain request", [status], right);
    times.push(ms);
  }
  return times;
}
