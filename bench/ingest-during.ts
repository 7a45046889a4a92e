/** The latency of single events while a server does something else. */
import { setTimeout as sleep } from "node:timers/promises";
import { timed } from "./hostile/wire.ts";
import type { Started } from "./processes.ts";

const INGEST_EVERY_MS = 5;

/** Sends an event every few milliseconds until the work has ended; returns the latencies in milliseconds. */
export async function ingestDuring(
  { url }: Started,
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  let isOver = false;
  const sent: Promise<void>[] = [];
  const sending = (async () => {
    while (!isOver) {
      sent.push(send(url, latencies));
      await sleep(INGEST_EVERY_MS);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await sending;
    await Promise.all(sent);
  }
  return latencies;
}

async function send(url: string, latencies: number[]): Promise<void> {
  // After the generated history, so that what is replayed or searched does not change.
  const body = JSON.stringify({ command: "git status", timestamp: "2027-02-01T00:00:00Z" });
  const { status, ms } = await timed(`${url}/api/public/audit`, { method: "POST", body });
  if (status !== 202) throw new Error(`An event was answered with ${status}`);
  latencies.push(ms);
}
