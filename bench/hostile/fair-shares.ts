/** The measurements of shares: one client takes as much as it can, and another one needs its share. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Started } from "../processes.ts";
import { latencies, requireStatuses, resident, WrongAnswer, type Finding } from "./finding.ts";
import { askHealth } from "./health.ts";
import { open, openUnread, timed } from "./wire.ts";

const AUDIT = "/api/public/audit";
const MIB = 1 << 20;
const ATTACKER = "127.0.0.2";
const VICTIM = "127.0.0.3";
const HELD_CONNECTIONS = 2_000;
const BUSY_CLIENTS = 1_000;
const ARRIVING_CONNECTIONS = 2_500;
/** The settings of the server of `stalledConnections`. */
export const FEW_CONNECTIONS = { MAX_CONNECTIONS: String(HELD_CONNECTIONS) };

/** The headers of a POST whose body does not end. */
function head(length: number): string {
  return [
    `POST ${AUDIT} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${length}`,
    "",
    "",
  ].join("\r\n");
}

/** One client holds as many bytes of bodies as are allowed in total; another one sends batches of 1 MiB. */
export async function heldBodies({ url, pid }: Started): Promise<readonly Finding[]> {
  const hold = async (bytes: number) => {
    const socket = await open(url, head(bytes + 1), ATTACKER);
    socket.write(Buffer.alloc(bytes, "x"));
    return socket;
  };
  const held = await Promise.all(Array.from({ length: 8 }, () => hold(8 * MIB - 100_000)));
  await sleep(1_000);
  // The rest of the room goes to small bodies: those without room are refused.
  held.push(...(await Promise.all(Array.from({ length: 40 }, () => hold(60_000)))));
  await sleep(500);
  const body = JSON.stringify({ command: "ls", message: "m".repeat(MIB - 100) });
  const sent: number[] = [];
  for (let i = 0; i < 40; i++) {
    const { status, ms } = await timed(url + AUDIT, { method: "POST", body, localAddress: VICTIM });
    requireStatuses("A body beside held ones", [status], [202]);
    sent.push(ms);
  }
  const health = await healthOf(url);
  for (const socket of held) socket.destroy();
  const what = "64 MiB of bodies held by one client";
  return [
    latencies(`another client's body of 1 MiB beside ${what}`, sent, 0.99),
    latencies(`/health beside ${what}`, health, 0.99, 100),
    resident(what, pid),
  ];
}

/** One client requests long answers and reads none; the export of another one continues meanwhile. */
export async function unreadAnswers({ url, pid }: Started): Promise<readonly Finding[]> {
  // The system buffers some MiB of a response: only longer ones wait in the process.
  for (let version = 0; version < 12; version++) {
    const body = JSON.stringify({
      yaml: `a: ${version}\n${`# ${"x".repeat(97)}\n`.repeat(9_500)}`,
    });
    const { status } = await timed(`${url}/api/public/policies`, { method: "POST", body });
    requireStatuses("A policy of 950 kB", [status], [201]);
  }
  const running = await startExport(url);
  const sockets = [];
  const health: number[] = [];
  for (let second = 0; second < 5; second++) {
    for (let i = 0; i < 16; i++) {
      sockets.push(await openUnread(url, "/api/public/policies", ATTACKER));
    }
    health.push(...(await healthOf(url)));
    await sleep(500);
  }
  const { expected, received } = await running.finish();
  for (const socket of sockets) socket.destroy();
  if (received !== expected) {
    throw new WrongAnswer(`An export of ${expected} events was cut after ${received}`);
  }
  const what = "80 lists of 11 MiB that one client leaves unread";
  return [
    latencies(`/health beside ${what}, while another one's export goes on`, health, 0.99, 100),
    resident(what, pid),
  ];
}

interface Export {
  /** Reads the rest, and counts the announced events and the received ones. */
  finish(): Promise<{ readonly expected: number; readonly received: number }>;
}

/** Begins an export, and leaves all bytes beyond the system's buffers unread. */
function startExport(url: string): Promise<Export> {
  return new Promise((resolve, reject) => {
    const path = `${url}/api/v1/audit/export?format=ndjson`;
    const sent = request(path, { agent: false, localAddress: VICTIM }, (answer) => {
      answer.pause();
      answer.on("error", () => {}); // a cut shows in the count
      const closed = new Promise<void>((done) => answer.once("close", () => done()));
      resolve({
        async finish() {
          const expected = Number(answer.headers["x-total-count"]);
          let received = 0;
          answer.on("data", (chunk: Buffer) => {
            for (const byte of chunk) if (byte === 10) received++;
          });
          answer.resume();
          await closed;
          return { expected, received };
        },
      });
    });
    sent.once("error", reject);
    sent.end();
  });
}

/**
 * One client opens all the streams of the open surface; others open streams there and on `/api/v1`. Then batches arrive,
 * whose events all the streams send.
 */
export async function manyStreams({ url, pid }: Started): Promise<readonly Finding[]> {
  const opened = await Promise.all(
    Array.from({ length: 120 }, () => openUnread(url, `${AUDIT}/stream`, ATTACKER)),
  );
  await sleep(500);
  const statuses = [];
  for (const prefix of ["/api/public", "/api/v1"]) {
    statuses.push(await streamStatus(`${url}${prefix}/audit/stream`));
  }
  requireStatuses("A stream beside 120 of one client", statuses, [200]);
  const health = await healthOf(url);
  for (const socket of opened) socket.resume();
  const batches = sendBatches(url, 10);
  const beside = await healthOf(url, VICTIM, 20);
  await batches;
  for (const socket of opened) socket.destroy();
  const what = "120 streams of one client, two of another";
  return [
    latencies(`/health beside ${what}`, health, 0.99, 100),
    latencies("/health beside five batches of 300 events a second for them", beside, 0.99, 100),
    resident(what, pid),
  ];
}

/** Sends batches of 300 events, five a second. */
async function sendBatches(url: string, count: number): Promise<void> {
  const event = { command: "kubectl get pods", consumer: "ai", message: "m".repeat(200) };
  const body = JSON.stringify({ events: Array(300).fill(event) });
  for (let i = 0; i < count; i++) {
    const { status } = await timed(url + AUDIT, { method: "POST", body, localAddress: VICTIM });
    requireStatuses("A batch beside streams", [status], [202]);
    await sleep(200);
  }
}

function streamStatus(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, localAddress: VICTIM }, (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    });
    sent.once("error", reject);
    sent.end();
  });
}

/** One client holds every connection with half a request; others connect. */
export async function stalledConnections({ url, pid }: Started): Promise<readonly Finding[]> {
  const sockets = [];
  for (let i = 0; i < HELD_CONNECTIONS + 500; i++) {
    sockets.push(await open(url, `${head(60_000)}{"command":"x`, ATTACKER));
  }
  const health = await healthOf(url, VICTIM);
  for (const socket of sockets) socket.destroy();
  const what = `${HELD_CONNECTIONS} connections stalled by one client, the most there may be`;
  return [
    latencies(`/health for another client beside ${what}`, health, 0.99, 100),
    resident(what, pid),
  ];
}

/** Clients that each send a check of a policy after the answer to the one before; others connect meanwhile. */
export async function busyClients({ url, pid }: Started): Promise<readonly Finding[]> {
  const body = JSON.stringify({ yaml: `default: deny\n# ${"x".repeat(200)}` });
  const check = [
    "POST /api/public/policies/validate HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
  const ended = await askHealth(url);
  const sockets = await Promise.all(
    Array.from({ length: BUSY_CLIENTS }, () => open(url, check, ATTACKER)),
  );
  for (const socket of sockets) socket.on("data", () => socket.write(check));
  await sleep(10_000);
  const health = await ended();
  for (const socket of sockets) socket.destroy();
  const what = `${BUSY_CLIENTS} clients that send request after request`;
  return [
    latencies(`/health on new connections beside ${what}`, health, 0.99, 100),
    resident(what, pid),
  ];
}

/** A client that opens connections without end, each with requests sent ahead, and leaves before it is answered. */
export async function arrivingClient({ url, pid }: Started): Promise<readonly Finding[]> {
  const { hostname, port } = new URL(url);
  const requests = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50);
  const sockets = new Set<Socket>();
  const ended = await askHealth(url);
  const end = performance.now() + 10_000;
  while (performance.now() < end) {
    for (let n = 0; n < 60 && sockets.size < ARRIVING_CONNECTIONS; n++) {
      const socket = connect({ port: Number(port), host: hostname, localAddress: ATTACKER });
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.on("connect", () => {
        socket.pause().write(requests);
        setTimeout(() => socket.destroy(), 1_500);
      });
    }
    await sleep(10);
  }
  const health = await ended();
  for (const socket of sockets) socket.destroy();
  const what = `a client with ${ARRIVING_CONNECTIONS} connections that come and go, each with 50 requests sent ahead`;
  return [
    latencies(`/health on new connections beside ${what}`, health, 0.99, 100),
    resident(what, pid),
  ];
}

/** The times of a hundred requests, with a pause before each of them. */
async function healthOf(
  url: string,
  localAddress = VICTIM,
  pauseMs = 0,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    if (pauseMs > 0) await sleep(pauseMs);
    const cut = { status: 0, ms: 0 };
    const { status, ms } = await timed(`${url}/health`, { localAddress }).catch(() => cut);
    requireStatuses("/health", [status], [200]);
    times.push(ms);
  }
  return times;
}
