/**
 * Measures a replay: how long 1,000,000 events with 100,000 different commands take to decide by two documents of 50
 * rules, how long the longest turn of the event loop is, and how much longer events wait meanwhile to be stored.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startService, type Setup } from "./contestants.ts";
import { writeHistory } from "./generate.ts";
import { ingestDuring } from "./ingest-during.ts";
import { longestTurn, type Turn } from "./loop-watch.ts";
import { usageOf } from "./machine.ts";
import type { Started } from "./processes.ts";
import { table } from "./report.ts";
import { median, quantile } from "./statistics.ts";

const EVENTS = 1_000_000;
const COMMANDS = 100_000;
const RULES = 50;
const REPLAYS = 5;
const QUIET_MS = 5_000;
const RANGE = { from: "2026-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z" };
const PROGRAMS = ["kubectl", "git", "docker", "terraform", "aws", "gh", "npm", "helm", "gcloud"];
const VERBS = ["delete", "push", "apply", "rm", "exec"];

/** The report of one replay, and what it took. */
interface Replayed {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly report: {
    readonly evaluated: number;
    readonly newly_denied: number;
    readonly newly_allowed: number;
  };
}

/** Measures and prints a table; false if a limit is not kept. */
export async function measureReplay(directory: string): Promise<boolean> {
  const own = join(directory, "replay");
  mkdirSync(own, { mode: 0o700 });
  writeHistory(join(own, "history"), { events: EVENTS, commands: COMMANDS });
  const setup = { directory: own, history: join(own, "history") };
  const server = await startService(setup, {});
  try {
    await publish(server);
    await ingestDuring(server, () => sleep(QUIET_MS)); // warms up
    const alone = await ingestDuring(server, () => sleep(QUIET_MS));
    const replays: Replayed[] = [];
    const beside = await ingestDuring(server, async () => {
      for (let i = 0; i < REPLAYS; i++) replays.push(await replay(server));
    });
    await server.stop();
    return report(replays, alone, beside, await turnBeside(setup, join(own, "turn")));
  } finally {
    await server.stop();
  }
}

/** The longest turn of the event loop beside replays and ingest. */
async function turnBeside(setup: Setup, watch: string): Promise<Turn> {
  const server = await startService(setup, {}, watch);
  try {
    await replay(server); // compiles the code, and reads the files once
    await longestTurn(server, watch);
    await ingestDuring(server, async () => {
      for (let i = 0; i < REPLAYS; i++) await replay(server);
    });
    return await longestTurn(server, watch);
  } finally {
    await server.stop();
  }
}

function report(
  replays: readonly Replayed[],
  alone: readonly number[],
  beside: readonly number[],
  { processor, elapsed }: Turn,
): boolean {
  const [first] = replays;
  if (!first) throw new Error("No replay was measured");
  const counted = JSON.stringify(first.report);
  for (const one of replays) {
    if (JSON.stringify(one.report) !== counted) throw new Error("Two replays differ");
  }
  const { evaluated, newly_denied, newly_allowed } = first.report;
  if (evaluated !== EVENTS || newly_denied + newly_allowed === 0) {
    throw new Error(`Not every event was decided, or nothing changes: ${counted.slice(0, 200)}`);
  }
  const warm = replays.slice(1);
  const middle = (pick: (one: Replayed) => number) => median(warm.map(pick));
  const rows = [
    { what: "a replay, the first", value: first.seconds, most: 5, unit: "s" },
    {
      what: `a replay, median of ${warm.length}`,
      value: middle(({ seconds }) => seconds),
      most: 5,
      unit: "s",
    },
    {
      what: "processor time of all threads",
      value: middle(({ cpuSeconds }) => cpuSeconds),
      unit: "s",
    },
    {
      what: "longest turn of the event loop, processor time",
      value: processor,
      most: 10,
      unit: "ms",
    },
    {
      what: "longest turn of the event loop, with its waits for a processor",
      value: elapsed,
      unit: "ms",
    },
    { what: "ingest alone, p99", value: quantile(alone, 0.99), unit: "ms" },
    { what: "ingest beside the replays, p50", value: quantile(beside, 0.5), unit: "ms" },
    { what: "ingest beside the replays, p99", value: quantile(beside, 0.99), most: 12, unit: "ms" },
  ];
  const cells = rows.map(({ what, value, most, unit }) => [
    what,
    `${value.toFixed(2)} ${unit}`,
    most === undefined ? "" : `${most} ${unit}`,
    most === undefined ? "" : value <= most ? "met" : "**missed**",
  ]);
  console.log(`\n### Replay\n\n${table(["What", "Measured", "At most", ""], cells)}\n`);
  console.log(`${newly_denied} newly denied, ${newly_allowed} newly allowed\n`);
  return rows.every(({ value, most }) => most === undefined || value <= most);
}

async function replay({ url, pid }: Started): Promise<Replayed> {
  const before = usageOf(pid).cpuMs;
  const start = performance.now();
  const answer = await fetch(`${url}/api/public/policies/replay`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ yaml: documentOf(1), base: "base", ...RANGE }),
  });
  const text = await answer.text();
  const seconds = (performance.now() - start) / 1_000;
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`);
  const report = JSON.parse(text) as Replayed["report"];
  const cpuSeconds = (usageOf(pid).cpuMs - before) / 1_000;
  return { seconds, cpuSeconds, report };
}

async function publish({ url }: Started): Promise<void> {
  const answer = await fetch(`${url}/api/public/policies`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ version: "base", yaml: documentOf(0) }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
}

/** A document of 50 rules of all kinds; two variants differ in a few rules. */
function documentOf(variant: number): string {
  const rules = Array.from({ length: RULES }, (_, i) => {
    const program = PROGRAMS[i % PROGRAMS.length] ?? "git";
    const verb = VERBS[(i * 7) % VERBS.length] ?? "rm";
    return `  - { id: rule-${i}, ${ruleOf(i, program, verb, variant)} }`;
  });
  return ["schema: signalbox/policy/v1", "default: allow", "rules:", ...rules, ""].join("\n");
}

function ruleOf(i: number, program: string, verb: string, variant: number): string {
  const isChanged = i % 20 === 10 * variant;
  switch (i % 25 === 3 ? 5 : i % 5) {
    case 0:
      return `effect: deny, match: { commands: [{ prefix: ${program} ${verb} }], consumers: [${isChanged ? "ai, ci" : "ai"}] }`;
    case 1:
      return `effect: deny, match: { commands: [{ glob: "*--context prod*" }, { prefix: ${program} ${verb} }], executors: ["agent-${i % 4}*"] }, except: [{ resources: ["team-1*/*"] }]`;
    case 2:
      return `effect: allow, match: { providers: [${program}], commands: [{ prefix: ${program} get }, { exact: ${program} version }] }`;
    case 3:
      return `effect: deny, match: { commands: [{ prefix: ${program} ${verb} }], capabilities: ["*/delete*"], resources: ["team-${i % 40}/database-*"] }`;
    case 5:
      return `effect: deny, match: { capabilities: ["*/delete*", "*/destroy*"], resources: ["team-${i % 40}/database-*"] }`;
    default:
      return `effect: deny, match: { commands: [{ prefix: ${program} ${verb} }, { glob: "${program} * --force*" }] }, except: [{ commands: [{ glob: "* --dry-run*" }] }, { consumers: [human], resources: ["team-${i}/*"] }]`;
  }
}
