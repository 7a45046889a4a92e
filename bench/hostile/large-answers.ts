/** The effect of many simultaneous requests for large answers on others. */
import { Agent, request } from "node:http";
import type { Started } from "../processes.ts";
import { countsOf, latencies, requireStatuses, resident, type Finding } from "./finding.ts";
import { askHealth } from "./health.ts";
import { openUnread, timed } from "./wire.ts";

const HEALTH_TARGET = 100;
const LONGEST_MS = 60_000;
const SHORTEST_MS = 5_000;

/** Many requests for the same target, and the data that must exist before. */
export interface Rush {
  readonly path: string;
  readonly requests: number;
  /** `"never"` leaves the answers unread until the others were measured. */
  readonly read?: "never";
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes the measurement of some rushes, one after another, over the data that `fill` stores. */
export function rushes(
  fill: (server: Started) => Promise<void>,
  all: readonly Rush[],
): (server: Started) => Promise<readonly Finding[]> {
  return async (server) => {
    await fill(server);
    const findings: Finding[] = [];
    for (const rush of all) findings.push(...(await measureRush(server, rush)));
    return findings;
  };
}

async function measureRush({ url, pid }: Started, rush: Rush): Promise<readonly Finding[]> {
  const { path, requests, headers = {} } = rush;
  const endAsking = await askHealth(url);
  const begun = performance.now();
  const passed = (): number => performance.now() - begun;
  const statuses: number[] = [];
  // A short rush is repeated: with few samples the 99th percentile is the maximum.
  do {
    const answers =
      rush.read === "never"
        ? leaveUnread(url, rush)
        : Promise.all(
            Array.from({ length: requests }, async () => {
              const answer = await timed(url + path, { headers, longestMs: LONGEST_MS });
              return answer.status;
            }),
          );
    statuses.push(...(await answers));
  } while (passed() < SHORTEST_MS);
  const seconds = (passed() / 1_000).toFixed(1);
  const health = await endAsking();
  requireStatuses(path, statuses, [200, 503, 0]);
  const unread = rush.read === "never" ? ", read by nobody" : "";
  const what = `${requests} × GET ${path}${unread} (${countsOf(statuses)}; ${seconds} s)`;
  return [
    latencies(`/health beside ${what}`, health, 0.99, HEALTH_TARGET),
    resident("beside them", pid),
  ];
}

/** Sends requests and reads nothing for five seconds; a status of 0 stands for every response. */
async function leaveUnread(url: string, { path, requests }: Rush): Promise<readonly number[]> {
  const readers = await Promise.all(Array.from({ length: requests }, () => openUnread(url, path)));
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  for (const reader of readers) reader.destroy();
  return readers.map(() => 0);
}

/** Stores a fleet of 60,000 runtimes. */
export async function fillFleet({ url }: Started): Promise<void> {
  const names = Array.from({ length: 60_000 }, (_, i) => `build-agent-${i}.region-${i % 7}`);
  const common = { hostname: "agent.example.com", os: "linux", version: "2.3.1" };
  const bodies = names.map((name) => ({ name, ...common, policy_version: "v1" }));
  await sendAll(`${url}/api/public/fleet/heartbeat`, bodies, 200);
}

/** Stores twelve events of 3.4 MiB. */
export async function fillLongEvents({ url }: Started): Promise<void> {
  const text = (name: string): string => name + "x".repeat(1_040_000);
  const short = "y".repeat(65_000);
  const others = { executor: short, resource: short, capability: short, provider: short };
  const events = Array.from({ length: 12 }, (_, i) => ({
    command: text(`command ${i} `),
    message: text("message "),
    reason: text("reason "),
    policy_decision: "DENIED",
    ...{ ...others, runtime_name: short, runtime_context: short },
  }));
  await sendAll(`${url}/api/public/audit`, events, 202);
}

/** Stores a thousand entries of almost 4 KiB. */
export async function fillActivity({ url }: Started): Promise<void> {
  const bodies = Array.from({ length: 1_000 }, (_, i) => ({
    settings: Array.from({ length: 10 }, (_, j) => ({
      key: `key-${j}`,
      value: `${i} ${"v".repeat(1_000)}`,
    })),
  }));
  await sendAll(`${url}/api/v1/settings`, bodies, 200, "PUT");
}

/** Stores two versions of almost a mebibyte, all of whose lines differ. */
export async function fillPolicies({ url }: Started): Promise<void> {
  const textOf = (word: string): string =>
    `rules: []\n${Array.from({ length: 100_000 }, (_, i) => `# ${word}${i}`).join("\n")}\n`;
  const bodies = ["v1", "v2"].map((version) => ({ version, yaml: textOf(version) }));
  await sendAll(`${url}/api/v1/policies`, bodies, 201);
}

async function sendAll(
  url: string,
  bodies: readonly unknown[],
  right: number,
  method = "POST",
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const left = bodies.values();
  const work = async (): Promise<void> => {
    for (const body of left) {
      const status = await new Promise<number>((resolve, reject) => {
        const sent = request(
          url,
          { method, agent, headers: { "Content-Type": "application/json" } },
          (response) => {
            response.resume();
            response.once("end", () => resolve(response.statusCode ?? 0));
          },
        );
        sent.once("error", reject);
        sent.end(JSON.stringify(body));
      });
      requireStatuses(url, [status], [right]);
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
  agent.destroy();
}
