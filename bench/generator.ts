/**
 * Audit events as a company's runtimes would report them over some months: 400 people, agents and
 * pipelines of which a few do most of the work, busy days and quiet nights, one event in twelve
 * denied, one in ten reported up to a minute late. The same options give the same events.
 */
import { DAY_MS, HOUR_MS } from "../src/core/clock.ts";
import { createRandom, hex, pickOne, type Random } from "../src/demo/random.ts";
import { createCommands, type GeneratedCommand } from "./commands.ts";
import { isoOf } from "./iso.ts";
import { shuffled, zipf } from "./random.ts";

/** An event in the form that a runtime sends; JSON omits `undefined` fields. */
export interface GeneratedReport {
  readonly timestamp: string;
  readonly command: string;
  readonly executor: string;
  readonly consumer: "human" | "ai" | "ci";
  readonly provider: string;
  readonly capability: string;
  readonly resource: string;
  readonly policy_decision: "ALLOWED" | "DENIED";
  readonly policy: string;
  readonly reason: string | undefined;
  readonly status: string | undefined;
  readonly message: string | undefined;
  readonly duration_ms: number;
  readonly runtime_name: string;
  readonly runtime_version: string;
  readonly runtime_context: string;
  readonly trace_id: string;
  readonly transport: string;
}

/** A report and the time of its arrival, in milliseconds; arrivals never go backwards. */
export interface Arrival {
  readonly at: number;
  readonly report: GeneratedReport;
}

export interface GeneratorOptions {
  /** The number of events. */
  readonly events: number;
  readonly seed?: number;
  /** The arrival of the last event, in milliseconds. */
  readonly end?: number;
  readonly days?: number;
  /** The number of different commands; by default nearly every one differs. */
  readonly commands?: number;
}

/** The end of generated histories by default: fixed, so that runs can be compared. */
export const HISTORY_END = Date.UTC(2026, 10, 20, 20, 30);

interface Executor {
  readonly name: string;
  readonly consumer: GeneratedReport["consumer"];
  readonly context: string;
  readonly runtimes: readonly string[];
}

const EXECUTORS = 400;
const RESOURCES = 1_200;
const POLICY_VERSIONS = 12;
const RUNTIME_VERSIONS = ["1.8.2", "1.8.1", "1.7.4", "1.6.0"];
const REASONS = [
  "production is changed through the pipeline only",
  "agents may read and plan, people apply",
  "this account is closed for changes over the weekend",
  "the command is not on the list of what this team may run",
];
const REASONS_TO_KEEP = [
  "deleting needs the approval of a second person",
  "agents may not take anything away",
];
const FAILURES = ["exit status 1", "exit status 2", "timed out after 30 s", "connection refused"];

const LATE_SHARE = 0.1;
const LATEST_MS = 60_000;
const DENIED_SHARE = 0.068;
const DENIED_SHARE_OF_DESTRUCTIVE = 0.3;
const FAILED_SHARE = 0.03;

/** Generates the arrivals one by one, oldest first. */
export function* arrivals(options: GeneratorOptions): Generator<Arrival, void, undefined> {
  const { events, seed = 1, end = HISTORY_END, days = 90, commands } = options;
  const random = createRandom(seed);
  const nextCommand = createCommands(random);
  const pickCommand = commands === undefined ? nextCommand : pool(nextCommand, commands, random);
  const makeReport = createReports(random, end - days * DAY_MS, end, pickCommand);
  const meanGap = (days * DAY_MS) / Math.max(1, events);
  let at = end - days * DAY_MS;
  for (let i = 0; i < events; i++) {
    at = Math.min(end, at + (meanGap / busyness(at)) * 2 * random());
    const arrived = Math.floor(at);
    yield { at: arrived, report: makeReport(arrived) };
  }
}

/** The same reports without their times of arrival. */
export function* reports(options: GeneratorOptions): Generator<GeneratedReport, void, undefined> {
  for (const { report } of arrivals(options)) yield report;
}

/** The activity of each hour of a week, relative to the average of 1. */
const WEEK = 7 * 24;
const HOURS = averageOne(
  Array.from({ length: WEEK }, (_, hour) => {
    const isWeekend = hour >= 5 * 24;
    const atWork = Math.max(0, Math.sin((((hour % 24) - 6) / 14) * Math.PI));
    return (0.3 + 1.4 * atWork) * (isWeekend ? 0.4 : 1);
  }),
);

function busyness(ms: number): number {
  // The epoch began on a Thursday; the table begins on Monday.
  return HOURS[Math.floor(ms / HOUR_MS + 3 * 24) % WEEK] ?? 1;
}

function averageOne(weights: readonly number[]): readonly number[] {
  const average = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
  return weights.map((weight) => weight / average);
}

function createReports(
  random: Random,
  start: number,
  end: number,
  nextCommand: () => GeneratedCommand,
): (arrivedAt: number) => GeneratedReport {
  const executors = createExecutors(random);
  const pickExecutor = zipf(executors.length, random);
  const resources = createResources(random);
  const pickResource = zipf(resources.length, random);
  const policies = createPolicyVersions(start, end);
  const traces = executors.map(() => hex(32, random));
  return (arrivedAt) => {
    const index = pickExecutor();
    const executor = executors[index] ?? pickOne(executors, random);
    // A piece of work takes four commands on average, which share its trace.
    if (random() < 0.25) traces[index] = hex(32, random);
    const isLate = random() < LATE_SHARE;
    const { command, provider, capability, isDestructive } = nextCommand();
    const isDenied = random() < (isDestructive ? DENIED_SHARE_OF_DESTRUCTIVE : DENIED_SHARE);
    const isFailed = !isDenied && random() < FAILED_SHARE;
    // Always the same keys in the same order: objects of one shape are made several times faster.
    return {
      timestamp: isoOf(isLate ? Math.floor(arrivedAt - random() * LATEST_MS) : arrivedAt),
      command,
      executor: executor.name,
      consumer: executor.consumer,
      provider,
      capability,
      resource: resources[pickResource()] ?? "",
      policy_decision: isDenied ? "DENIED" : "ALLOWED",
      policy: policies[Math.floor(((arrivedAt - start) / (end - start)) * POLICY_VERSIONS)] ?? "",
      reason: isDenied ? pickOne(isDestructive ? REASONS_TO_KEEP : REASONS, random) : undefined,
      status: isFailed ? "failed" : undefined,
      message: isFailed ? pickOne(FAILURES, random) : undefined,
      duration_ms: Math.round(20 * Math.exp(5 * random() * random())),
      runtime_name: pickOne(executor.runtimes, random),
      runtime_version: pickOne(RUNTIME_VERSIONS, random),
      runtime_context: executor.context,
      trace_id: traces[index] ?? "",
      transport: "https",
    };
  };
}

/** A source of `count` different commands, each of which comes up at least once; some are far more frequent. */
function pool(next: () => GeneratedCommand, count: number, random: Random): () => GeneratedCommand {
  const different = new Map<string, GeneratedCommand>();
  while (different.size < count) {
    const one = next();
    different.set(one.command, one);
  }
  const all = [...different.values()];
  let used = 0;
  return () => all[used < count ? used++ : Math.floor(count * random() ** 3)] as GeneratedCommand;
}

/** People, agents and pipelines in one order of use, so that each kind has busy and idle ones. */
function createExecutors(random: Random): readonly Executor[] {
  const all = Array.from({ length: EXECUTORS }, (_, i): Executor => {
    const names = (kind: string, count: number) =>
      Array.from({ length: count }, (__, n) => `${kind}-${i}-${n}`);
    if (i % 20 < 11) {
      const name = `user${i}@example.com`;
      return { name, consumer: "human", context: "shell", runtimes: names("laptop", 1) };
    }
    if (i % 20 < 16) {
      const name = `agent-${i}@example.com`;
      return { name, consumer: "ai", context: "session", runtimes: names("agent", 2) };
    }
    const name = `pipeline-${i}@example.com`;
    return { name, consumer: "ci", context: "pipeline", runtimes: names("runner", 6) };
  });
  return shuffled(all, random);
}

function createResources(random: Random): readonly string[] {
  const parts = ["web", "api", "worker", "database", "cache", "queue", "bucket", "network"];
  return shuffled(
    Array.from({ length: RESOURCES }, (_, i) => {
      const part = parts[i % parts.length] ?? "web";
      return `team-${i % 40}/${part}-${Math.floor(i / 40)}`;
    }),
    random,
  );
}

/** The versions in their order, one for each twelfth of the history and one for its last moment. */
function createPolicyVersions(start: number, end: number): readonly string[] {
  return Array.from({ length: POLICY_VERSIONS + 1 }, (_, i) => {
    const from = start + ((end - start) / POLICY_VERSIONS) * Math.min(i, POLICY_VERSIONS - 1);
    return `${isoOf(from).slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  });
}
