/** Sends requests to a server: one to check its answer, and many to measure its speed. */
import autocannon from "autocannon";
import { machineBusyMs, PROCESSORS, usageOf } from "./machine.ts";
import type { Started } from "./processes.ts";
import type { Scenario } from "./scenarios.ts";
import { quantile } from "./statistics.ts";

/** The figures of one stretch of load. */
export interface Slice {
  /** Answers per second, from the first to the last. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the server's process per answer, in microseconds. */
  readonly cpuMicroseconds: number;
  /** The share of one processor that it used; above 1 if other threads than the main one work. */
  readonly cpuShare: number;
  readonly residentBytes: number;
  /** The share of the whole machine that neither this server nor this process used. */
  readonly othersShare: number;
}

/** One answer. */
export interface Answer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly text: string;
  readonly ms: number;
}

// A server that takes longer for one answer gets a fixed number of requests instead of a fixed time.
const SLOW_MS = 150;
const TIMEOUT_SECONDS = 120;

/** Sends the first request of a scenario, and reads the whole answer. */
export async function ask(scenario: Scenario, server: Started, etag?: string): Promise<Answer> {
  const { method, path } = scenario;
  const body = scenario.bodies()[0];
  const start = performance.now();
  const response = await fetch(server.url + path, {
    method,
    headers: headersOf(server, body !== undefined, etag),
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const found = response.headers.get("etag") ?? undefined;
  return { status: response.status, etag: found, text, ms: performance.now() - start };
}

/**
 * Loads a server for some seconds from this process.
 *
 * @param answerMs the time of one answer, which decides how a slow server is loaded
 * @throws Error if any request failed or was answered with another status
 */
export async function load(
  scenario: Scenario,
  server: Started,
  seconds: number,
  answerMs: number,
  etag?: string,
): Promise<Slice> {
  const { name, method, path, connections, status } = scenario;
  const bodies = scenario.bodies();
  const times: number[] = [];
  let first = Number.NaN;
  let last = Number.NaN;
  const before = usageNow(server);
  const servers = bothOf(server);
  const share = connections / servers.length;
  const options = {
    connections: share,
    ...(answerMs > SLOW_MS ? { amount: share * 2 } : { duration: seconds }),
    sampleInt: 100,
    timeout: TIMEOUT_SECONDS,
    method,
    headers: headersOf(server, bodies.length > 0, etag),
    ...(bodies.length > 0 && { requests: bodies.map((body) => ({ body })) }),
  };
  const loadOne = ({ url }: Started) =>
    new Promise<autocannon.Result>((resolve, reject) => {
      const run = autocannon({ ...options, url: url + path }, (error: unknown, done) => {
        if (error instanceof Error) reject(error);
        else resolve(done);
      });
      run.on("response", (_client, _status, _bytes, ms) => {
        last = performance.now();
        if (times.length === 0) first = last - ms;
        times.push(ms);
      });
    });
  const results = await Promise.all(servers.map(loadOne));
  const after = usageNow(server);
  for (const { errors, statusCodeStats } of results) {
    const answered = Object.entries(statusCodeStats ?? {});
    if (errors === 0 && answered.length === 1 && answered[0]?.[0] === String(status)) continue;
    const seen = answered.map(([code, { count }]) => `${count ?? 0} x ${code}`).join(", ");
    throw new Error(`${name}: ${errors} errors, ${seen || "no answers"} from ${server.url}`);
  }
  const elapsed = last - first;
  const cpuMs = after.cpuMs - before.cpuMs;
  const othersMs = after.busyMs - before.busyMs - cpuMs - (after.ownMs - before.ownMs);
  return {
    rate: (times.length / elapsed) * 1_000,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpuMicroseconds: (cpuMs / times.length) * 1_000,
    cpuShare: cpuMs / elapsed,
    residentBytes: after.residentBytes,
    othersShare: Math.max(0, othersMs / (after.at - before.at) / PROCESSORS),
  };
}

/** The usage of the server and its second, of this process and the whole machine so far. */
function usageNow(server: Started) {
  const { user, system } = process.cpuUsage();
  const usages = bothOf(server).map(({ pid }) => usageOf(pid));
  return {
    at: performance.now(),
    busyMs: machineBusyMs(),
    ownMs: (user + system) / 1_000,
    cpuMs: usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    residentBytes: usages.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
  };
}

function bothOf(server: Started): readonly Started[] {
  return server.second === undefined ? [server] : [server, server.second];
}

function headersOf(
  { headers }: Started,
  hasBody: boolean,
  etag: string | undefined,
): Record<string, string> {
  return {
    ...headers,
    ...(hasBody && { "content-type": "application/json" }),
    ...(etag !== undefined && { "if-none-match": etag }),
  };
}
