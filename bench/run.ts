/**
 * Measures the built service beside the floor and its peers. All run at the same time and are
 * loaded in turn over several rounds, in another order each round. The result is the median of the
 * ratios within each round, since the speed of a shared machine drifts by more than most
 * improvements are worth. The README beside this file explains the tables.
 *
 * Usage: npm run bench -- [--full] [--rounds N] [--seconds N] [--no-peers] [--json FILE]
 *                         [--directory DIR] [hostile[:NAME] | portal | guard | replay | searches | waiters | proof | part of a scenario's name …]
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Arena, partition } from "./arena.ts";
import type { ContestantName } from "./contestants.ts";
import { writeHistory } from "./generate.ts";
import { measureGuard } from "./guard.ts";
import { measureHostile } from "./hostile.ts";
import type { Slice } from "./load.ts";
import { describeMachine, flushMicroseconds, touchPageCache } from "./machine.ts";
import { measurePortal } from "./portal.ts";
import { measureReplay } from "./replay.ts";
import { measureProof } from "./proof.ts";
import { othersLine, scenarioTable, summaryTable, type Measured } from "./report.ts";
import { scenarios, type Scenario, type World } from "./scenarios.ts";
import { measureSearches } from "./searches.ts";
import { Usage } from "./usage.ts";
import { measureWaiters } from "./waiters.ts";

const WARM_UP_SECONDS = 4; // with less the compiler is still at work, and the larger program looks slower
const PAUSE_MS = 300; // lets the last server finish its deferred work
const PAGE_CACHE_BYTES = { short: 512 << 20, full: 1_536 << 20 };

const usage = new Usage(
  "Usage: npm run bench -- [--full] [--rounds N] [--seconds N] [--no-peers] [--json FILE]\n" +
    "                        [--directory DIR] [hostile[:NAME] | portal | guard | replay | searches | waiters | proof | part of a scenario's name …]",
);
const options = {
  full: { type: "boolean", default: false },
  rounds: { type: "string" },
  seconds: { type: "string" },
  "no-peers": { type: "boolean", default: false },
  json: { type: "string" },
  directory: { type: "string", default: tmpdir() },
} as const;
const { values, positionals } = usage.read(options, { most: Infinity });
const { full } = values;
const rounds = usage.integer("rounds", values.rounds ?? (full ? "7" : "3"), 1, 600);
const seconds = usage.number("seconds", values.seconds ?? (full ? "3" : "2"), 0.1, 600);
/** The suites beside the scenarios, each with a table of its own; false if a limit was exceeded. */
const SUITES: Readonly<Record<string, () => Promise<boolean | void>>> = {
  hostile: () => measureHostile(directory, full, named("hostile")),
  portal: () => measurePortal(directory, rounds),
  guard: () => measureGuard(directory),
  replay: () => measureReplay(directory),
  searches: () => measureSearches(directory, full),
  waiters: () => measureWaiters(directory),
  proof: () => measureProof(directory, full, rounds),
};
const chosen = scenarios.filter(
  ({ name, isShort }) =>
    positionals.some((part) => name.includes(part)) ||
    (positionals.length === 0 && (full || isShort)),
);
const suites = Object.keys(SUITES).filter((suite) => named(suite).length > 0);
if (chosen.length === 0 && suites.length === 0) {
  const names = [...scenarios.map(({ name }) => name), ...Object.keys(SUITES)];
  usage.fail(`No scenario is named so; there are:\n  ${names.join("\n  ")}`);
}

const directory = await usage.attempt(() =>
  mkdtempSync(join(values.directory, "signalbox-bench-")),
);
chmodSync(directory, 0o711); // a database that runs as another user passes through
const stops: (() => Promise<void>)[] = [];
process.once("SIGINT", () => void cleanUp().then(() => process.exit(130)));
try {
  console.log(`${describeMachine()}`);
  console.log(
    `${new Date().toISOString().slice(0, 10)}, ${rounds} rounds of ${seconds} s for each server` +
      `${full ? ", all restarted between rounds" : ""}`,
  );
  console.log(
    `Append of 512 bytes with fdatasync: ${flushMicroseconds(directory).toFixed(0)} µs (median)`,
  );
  for (const suite of suites) if ((await SUITES[suite]?.()) === false) process.exitCode = 1;
  if (chosen.length > 0) await measureChosen();
} finally {
  await cleanUp();
}

/** The arguments that name a suite, or as `suite:part` a part of it. */
function named(suite: string): readonly string[] {
  return positionals.filter((name) => name === suite || name.startsWith(`${suite}:`));
}

async function measureChosen(): Promise<void> {
  touchPageCache(directory, full ? PAGE_CACHE_BYTES.full : PAGE_CACHE_BYTES.short);
  const results: Measured[] = [];
  for (const world of new Set(chosen.map((scenario) => scenario.world))) {
    const inWorld = chosen.filter((scenario) => scenario.world === world);
    results.push(...(await measureWorld(world, inWorld)));
  }
  console.log(summaryTable(results));
  console.log(othersLine(results));
  console.log(
    `Append of 512 bytes with fdatasync, again: ${flushMicroseconds(directory).toFixed(0)} µs`,
  );
  if (values.json !== undefined) writeFileSync(values.json, asJson(results));
}

async function measureWorld(world: World, inWorld: readonly Scenario[]): Promise<Measured[]> {
  const named = inWorld.flatMap(({ contestants }) => contestants);
  const { present, absent } = partition(named.filter((name) => !isLeftOut(name)));
  console.log(`\n## World: ${world.name}\n`);
  for (const [name, reason] of absent) console.log(`Without ${name}: ${reason}\n`);
  const own = join(directory, world.name.replaceAll(/\W+/g, "-"));
  mkdirSync(own, { mode: 0o711 });
  const history = world.events > 0 ? join(own, "history") : undefined;
  if (history !== undefined) writeHistory(history, { events: world.events });
  const arena = new Arena(world, present, own, history);
  stops.push(() => arena.stop());
  await arena.start();
  const results: Measured[] = [];
  for (const scenario of inWorld) {
    const measured = await measure(scenario, arena);
    console.log(scenarioTable(measured));
    results.push(measured);
  }
  await arena.stop();
  rmSync(own, { recursive: true, force: true });
  return results;
}

async function measure(scenario: Scenario, arena: Arena): Promise<Measured> {
  const slices = new Map<ContestantName, Slice[]>();
  for (let round = 0; round < rounds; round++) {
    if (full && round > 0) {
      await arena.stop();
      await arena.start();
    }
    const checked = [...(await arena.check(scenario))];
    if (full || round === 0) {
      for (const [name, found] of checked) await arena.load(scenario, name, WARM_UP_SECONDS, found);
    }
    const shift = round % checked.length;
    for (const [name, found] of [...checked.slice(shift), ...checked.slice(0, shift)]) {
      await sleep(PAUSE_MS);
      const slice = await arena.load(scenario, name, seconds, found);
      slices.set(name, [...(slices.get(name) ?? []), slice]);
    }
  }
  // The order of the scenario, whatever the order of the first round was.
  const ordered = scenario.contestants.flatMap((name) => {
    const own = slices.get(name);
    return own === undefined ? [] : [[name, own] as const];
  });
  return { scenario, slices: new Map(ordered) };
}

function isLeftOut(name: ContestantName): boolean {
  return values["no-peers"] && name.startsWith("fastify");
}

function asJson(results: readonly Measured[]): string {
  const rows = results.map(({ scenario, slices }) => ({
    scenario: scenario.name,
    slices: Object.fromEntries(slices),
  }));
  return `${JSON.stringify({ machine: describeMachine(), rounds, seconds, rows }, null, 2)}\n`;
}

async function cleanUp(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
  rmSync(directory, { recursive: true, force: true });
}
