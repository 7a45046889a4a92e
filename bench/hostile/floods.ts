/** Floods of requests that are made to cost much: what they cost the other clients. */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Started } from "../processes.ts";
import { countsOf, latencies, requireStatuses, resident, type Finding } from "./finding.ts";
import { askHealth } from "./health.ts";
import { timed } from "./wire.ts";

const FLOOD_MS = 10_000;
/** After a refusal a client waits this long: the shortest `Retry-After`. */
const PAUSE_MS = 1_000;
const ATTACKER = "127.0.0.2";
const VICTIM = "127.0.0.3";
const AUDIT = "/api/public/audit";

/** A request that clients of one address repeat. */
interface Flood {
  readonly what: string;
  readonly clients: number;
  readonly path: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly right: readonly number[];
}

/** A policy of 7 KB whose aliases stand for 900 patterns and 900 tests. */
export const ALIASES = flood({
  what: "checks of a policy with 900 patterns and 900 tests by aliases",
  clients: 20,
  path: "/api/public/policies/validate",
  body: JSON.stringify({ yaml: aliasesOf(900) }),
  right: [200, 400, 413, 422, 503],
});

function aliasesOf(count: number): string {
  const glob = `*${"a*".repeat(40)}b`;
  const command = `deploy ${"a".repeat(200)}`;
  return [
    "default: deny",
    `rules: [{ name: r, effect: allow, match: { commands: [&c { glob: "${glob}" }${", *c".repeat(count - 1)}] } }]`,
    `tests: [&t { command: "${command}", expect: DENIED }${", *t".repeat(count - 1)}]`,
  ].join("\n");
}

/** A batch of 900,000 events in some kilobytes of gzip, one of them with an escape. */
export const INFLATED = flood({
  what: "batches of 900,000 events in gzip",
  clients: 10,
  path: AUDIT,
  body: gzipSync(`{"events":[{"a":"\\u0061"}${',{"a":1}'.repeat(900_000)}]}`),
  headers: { "Content-Encoding": "gzip" },
  right: [400, 413, 503],
});

/** The shortest text for which the slowest rules of redaction are tried at almost every word. */
const SLOW_TEXT = `<<'E'\nkinit wd${" -passwd".repeat(4)} -passw'${" -passwd".repeat(13)}\n`;

/** Events of 15 KB that are slow to redact. */
export const SLOW_EVENTS = flood({
  what: "events of 15 KB that are slow to redact",
  clients: 50,
  path: AUDIT,
  body: JSON.stringify({ command: SLOW_TEXT.repeat(15_000 / SLOW_TEXT.length) }),
  right: [202, 503],
});

/** Batches of 7 MB that are slow to redact. */
export const SLOW_BATCHES = flood({
  what: "batches of 7 MB that are slow to redact",
  clients: 10,
  path: AUDIT,
  body: JSON.stringify({
    events: Array(7).fill({ command: SLOW_TEXT.repeat(1_000_000 / SLOW_TEXT.length) }),
  }),
  right: [202, 503],
});

/** Clients of one address repeat a request for ten seconds, while another client sends batches of 100 events. */
function flood({ what, clients, path, body, headers = {}, right }: Flood) {
  return async ({ url, pid }: Started): Promise<readonly Finding[]> => {
    const endAsking = await askHealth(url);
    const stop = performance.now() + FLOOD_MS;
    const isOver = (): boolean => performance.now() > stop;
    const request = { method: "POST", body, localAddress: ATTACKER, longestMs: FLOOD_MS, headers };
    const statuses: number[] = [];
    const attack = async (): Promise<void> => {
      while (!isOver()) {
        const { status } = await timed(url + path, request);
        statuses.push(status);
        if (status === 503) await sleep(PAUSE_MS);
      }
    };
    const attacks = Promise.all(Array.from({ length: clients }, attack));
    const batches: number[] = [];
    const batch = JSON.stringify({ events: Array(100).fill({ command: "kubectl get pods" }) });
    while (!isOver()) {
      const options = { method: "POST", body: batch, localAddress: VICTIM };
      const { status, ms } = await timed(url + AUDIT, options);
      requireStatuses("A batch of another client", [status], [202]);
      batches.push(ms);
      await sleep(20);
    }
    const health = await endAsking();
    await attacks;
    requireStatuses(what, statuses, [...right, 0]); // a status of 0: no answer within ten seconds
    const beside = `beside ${clients} clients that send ${what} (${countsOf(statuses)})`;
    return [
      latencies(`another client's batch of 100 events ${beside}`, batches, 0.99),
      latencies("/health beside them", health, 0.99, 100),
      resident("the service beside them", pid),
    ];
  };
}
