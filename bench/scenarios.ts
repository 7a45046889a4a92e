/** The measurements, as data: the request, the right answer, the contestants, and their data. */
import type { ContestantName } from "./contestants.ts";
import { reports, type GeneratedReport } from "./generator.ts";

/** The data that a scenario needs; scenarios of one world share their servers. */
export interface World {
  readonly name: string;
  /** Audit events of the past. */
  readonly events: number;
  /** Runtimes that are registered first. */
  readonly runtimes: number;
  /** Whether a policy is published first. */
  readonly policy: boolean;
  /** Whether another version is rolled out to the runtime that gives its name. */
  readonly rollout?: true;
}

/** One measurement. */
export interface Scenario {
  readonly name: string;
  readonly world: World;
  /** Whether it belongs to the short run too. */
  readonly isShort: boolean;
  readonly connections: number;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Different bodies, sent in turn; empty for a request without one. */
  readonly bodies: () => readonly string[];
  /** Whether the request carries the `ETag` of an earlier answer. */
  readonly revalidates: boolean;
  readonly status: number;
  /** Whether an answer is right; checked before the measurement. */
  readonly isRight: (body: Readonly<Record<string, unknown>>) => boolean;
  /**
   * The part of an answer in which all contestants but the floor must agree; absent if ids and
   * times always differ.
   */
  readonly agreesOn?: (body: Readonly<Record<string, unknown>>) => unknown;
  /** The first is the one in question; the others are for comparison. */
  readonly contestants: readonly ContestantName[];
  /** The contestant that its rate is compared with in the summary; the floor if absent. */
  readonly baseline?: ContestantName;
  /** The target of the ratio to the baseline. */
  readonly target?: number;
}

/** The events in the history of the worlds that have one. */
export const HISTORY_EVENTS = 1_000_000;

const AUDIT = "/api/public/audit";

// Separate worlds, so that only the compared servers are running.
const watched: World = { name: "watched or not", events: 0, runtimes: 0, policy: false };
const watchedPolicy: World = { ...watched, name: "watched or not, one policy", policy: true };
const empty: World = { name: "empty", events: 0, runtimes: 0, policy: false };
// A separate world, so that the events of earlier scenarios do not slow its servers.
const unknownFleet: World = { name: "no runtimes yet", events: 0, runtimes: 0, policy: false };
const withPolicy: World = { name: "one policy", events: 0, runtimes: 0, policy: true };
const withRollout: World = { ...withPolicy, name: "a rollout", rollout: true };
const withFleet: World = { name: "100,000 runtimes", events: 0, runtimes: 100_000, policy: false };
const withHistory: World = {
  name: "1,000,000 events",
  events: HISTORY_EVENTS,
  runtimes: 0,
  policy: false,
};

/** The policy that is published before policy fetches are measured, about 4 KiB. */
export const policyText = [
  "schema: signalbox/policy/v1",
  "default: deny",
  "rules:",
  ...Array.from({ length: 26 }, (_, i) =>
    [
      `  - id: allow-team-${i}`,
      "    effect: allow",
      "    reason: reading is free for everybody",
      `    match: { providers: [kubernetes], resources: ["team-${i}/*"] }`,
    ].join("\n"),
  ),
].join("\n");

const base = {
  world: empty,
  isShort: true,
  method: "POST",
  bodies: () => [],
  revalidates: false,
  status: 200,
} as const;

const singleIngest = {
  ...base,
  path: AUDIT,
  bodies: () => events(64).map((event) => JSON.stringify(event)),
  status: 202,
  isRight: (body) =>
    typeof body["id"] === "string" &&
    body["command"] === events(64)[0]?.command &&
    body["organization_id"] === "default" &&
    body["status"] === "allowed",
} as const satisfies Partial<Scenario>;

const heartbeat = {
  ...base,
  connections: 64,
  path: "/api/public/fleet/heartbeat",
  isRight: (body) => body["status"] === "ok",
} as const satisfies Partial<Scenario>;

const policyFetch = {
  ...base,
  world: withPolicy,
  connections: 64,
  method: "GET",
  path: "/api/public/policies?active=true",
  contestants: ["signalbox", "floor"],
} as const satisfies Partial<Scenario>;

const page = {
  ...base,
  world: withHistory,
  method: "GET",
  agreesOn: (body) => [
    body["total"],
    (body["events"] as readonly { id: string }[]).map(({ id }) => id),
  ],
  contestants: ["signalbox", "floor", "fastify + sqlite NORMAL", "fastify + postgres"],
} as const satisfies Partial<Scenario>;

/** Over PostgreSQL: one server and two, beside the file engine. */
const overPostgres = {
  isShort: false,
  contestants: ["signalbox + postgres", "2 signalbox + postgres", "signalbox", "floor"],
} as const satisfies Partial<Scenario>;

const besidePeer = {
  ...overPostgres,
  world: { ...empty, name: "empty, over postgres" },
  connections: 64,
  contestants: [...overPostgres.contestants, "fastify + postgres"],
  baseline: "fastify + postgres",
} as const satisfies Partial<Scenario>;

const pageOverPostgres = {
  ...page,
  world: { ...withHistory, name: "1,000,000 events, over postgres" },
  isShort: false,
  connections: 16,
  contestants: ["signalbox + postgres", "signalbox", "floor", "fastify + postgres"],
  baseline: "fastify + postgres",
  isRight: isPage,
} as const satisfies Partial<Scenario>;

const batch = {
  ...base,
  connections: 4,
  path: AUDIT,
  bodies: () => [JSON.stringify({ events: events(1_000) })],
  status: 202,
  isRight: (body) => body["accepted"] === 1_000 && (body["events"] as unknown[]).length === 1_000,
} as const satisfies Partial<Scenario>;

const watching = {
  isShort: false,
  contestants: ["signalbox, watched", "signalbox, unwatched"],
  baseline: "signalbox, unwatched",
  target: 0.95,
} as const satisfies Partial<Scenario>;

/** All scenarios, in the order of their measurement. */
export const scenarios: readonly Scenario[] = [
  {
    ...singleIngest,
    name: "single ingest, durable, 64 connections",
    connections: 64,
    contestants: ["signalbox", "floor", "fastify + sqlite FULL", "fastify + postgres"],
    target: 0.65,
  },
  {
    ...singleIngest,
    name: "single ingest, durable, 100 connections",
    connections: 100,
    contestants: ["signalbox", "floor"],
    target: 0.65,
  },
  {
    ...singleIngest,
    name: "single ingest, written, 64 connections",
    connections: 64,
    contestants: ["signalbox, write", "floor", "fastify + sqlite NORMAL"],
  },
  {
    ...batch,
    name: "ingest of batches of 1,000, durable, 4 connections",
    contestants: ["signalbox", "floor", "fastify + sqlite FULL", "fastify + postgres"],
  },
  {
    ...heartbeat,
    name: "heartbeat, 64 runtimes",
    world: unknownFleet,
    bodies: () => heartbeats(64, 64),
    contestants: ["signalbox", "floor", "fastify + sqlite NORMAL", "fastify + postgres"],
    target: 0.65,
  },
  {
    ...heartbeat,
    name: "heartbeat, 100,000 runtimes",
    world: withFleet,
    isShort: false,
    bodies: () => heartbeats(1_024, withFleet.runtimes),
    contestants: ["signalbox", "floor", "fastify + sqlite NORMAL"],
    target: 0.65,
  },
  {
    ...policyFetch,
    name: "active policy",
    isRight: isPolicy,
    target: 0.85,
  },
  {
    ...policyFetch,
    name: "active policy, not modified",
    revalidates: true,
    status: 304,
    isRight: () => true,
  },
  {
    ...policyFetch,
    name: "active policy, named, during a rollout",
    world: withRollout,
    contestants: ["signalbox, named", "signalbox"],
    baseline: "signalbox",
    isRight: (body) => body["yaml"] === policyText,
    target: 0.8,
  },
  {
    ...singleIngest,
    ...watching,
    name: "price of watching: single ingest, durable",
    world: watched,
    connections: 64,
  },
  {
    ...policyFetch,
    ...watching,
    name: "price of watching: active policy",
    world: watchedPolicy,
    isRight: isPolicy,
  },
  {
    ...page,
    name: "newest 100 of 1,000,000 events",
    connections: 16,
    path: AUDIT,
    isRight: (body) => isPage(body) && body["total"] === HISTORY_EVENTS,
  },
  {
    ...page,
    name: "newest 100 that were denied",
    connections: 16,
    path: `${AUDIT}?decision=DENIED`,
    isRight: isPage,
  },
  {
    ...page,
    name: "100 events at offset 500,000",
    connections: 16,
    path: `${AUDIT}?offset=500000`,
    isRight: (body) => isPage(body) && body["total"] === HISTORY_EVENTS,
  },
  {
    ...page,
    name: "search for a common phrase",
    connections: 4,
    path: `${AUDIT}?q=get%20pods`,
    isRight: isPage,
  },
  {
    ...page,
    name: "search for a text that is nowhere",
    connections: 4,
    path: `${AUDIT}?q=9f3c7a1e5b2d4860ffff`,
    isRight: (body) => body["returned"] === 0 && body["total"] === 0,
  },
  { ...singleIngest, ...besidePeer, name: "postgres: single ingest, durable", target: 2.2 },
  {
    ...batch,
    ...besidePeer,
    name: "postgres: ingest of batches of 1,000, durable",
    connections: 4,
    target: 1.5,
  },
  {
    ...heartbeat,
    ...besidePeer,
    name: "postgres: heartbeat, 64 runtimes",
    world: { ...unknownFleet, name: "no runtimes yet, over postgres" },
    bodies: () => heartbeats(64, 64),
    target: 2.5,
  },
  {
    ...policyFetch,
    ...overPostgres,
    name: "postgres: active policy",
    world: { ...withPolicy, name: "one policy, over postgres" },
    isRight: isPolicy,
    target: 0.35,
  },
  {
    ...pageOverPostgres,
    name: "postgres: newest 100 of 1,000,000 events",
    path: AUDIT,
    isRight: (body) => isPage(body) && body["total"] === HISTORY_EVENTS,
    target: 20,
  },
  {
    ...pageOverPostgres,
    name: "postgres: newest 100 that were denied",
    path: `${AUDIT}?decision=DENIED`,
  },
  {
    ...pageOverPostgres,
    name: "postgres: 100 events at offset 500,000",
    path: `${AUDIT}?offset=500000`,
  },
  {
    ...pageOverPostgres,
    name: "postgres: search for a common phrase",
    connections: 4,
    path: `${AUDIT}?q=get%20pods`,
  },
];

function isPolicy(body: Readonly<Record<string, unknown>>): boolean {
  return body["yaml"] === policyText && body["active"] === true;
}

function isPage(body: Readonly<Record<string, unknown>>): boolean {
  const times = (body["events"] as readonly { timestamp: string }[]).map(
    ({ timestamp }) => timestamp,
  );
  return (
    times.length === 100 &&
    body["returned"] === 100 &&
    times.every((time, i) => i === 0 || time <= (times[i - 1] ?? ""))
  );
}

/**
 * Different events without a time: the service uses the time of arrival, as for most runtimes.
 * Repeated times would be sorted into the past over and over.
 */
function events(count: number): readonly Omit<GeneratedReport, "timestamp">[] {
  return [...reports({ events: count, seed: 7 })].map(({ timestamp: _, ...event }) => event);
}

/** Heartbeats of some runtimes, spread evenly over all runtimes. */
function heartbeats(count: number, runtimes: number): readonly string[] {
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      ...registration(Math.floor((i * runtimes) / count)),
      policy_version: "bench",
    }),
  );
}

/** The registration of the runtime with a number. */
export function registration(number: number): Readonly<Record<string, string>> {
  const name = `runner-${number}`;
  return { name, hostname: `${name}.example.com`, os: "linux", version: "1.8.2" };
}
