/**
 * Measures the audit engine by itself, through the interface that the routes use: the time to open a
 * history with and without the indexes beside its segments, the memory used then, the time of each kind
 * of query, and appends. Each size runs in processes of its own.
 *
 * Usage: npm run bench:engine -- [--events 1000000,5000000] [--rounds 15] [--directory DIR] [--json FILE]
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Layout } from "../src/storage/layout.ts";
import type { EngineFindings } from "./engine/measure.ts";
import { choosePatterns, countMatches, engineQueries } from "./engine/queries.ts";
import { writeHistory } from "./generate.ts";
import { describeMachine, touchPageCache } from "./machine.ts";
import { Usage } from "./usage.ts";

const usage = new Usage(
  "Usage: npm run bench:engine -- [--events 1000000,5000000] [--rounds 15] [--directory DIR] " +
    "[--json FILE]",
);
const { values } = usage.read({
  events: { type: "string", default: "1000000" },
  rounds: { type: "string", default: "15" },
  directory: { type: "string", default: tmpdir() },
  json: { type: "string" },
});
const sizes = values.events.split(",").map((size) => usage.integer("events", size, 1, 1e9));
const rounds = usage.integer("rounds", values.rounds, 1, 1_000);

console.log(`${describeMachine()}\n`);
const results: unknown[] = [];
for (const events of sizes) {
  const directory = await usage.attempt(() =>
    mkdtempSync(join(values.directory, "signalbox-engine-")),
  );
  try {
    touchPageCache(directory, events * 600);
    results.push({ events, ...measure(directory, events) });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);

function measure(directory: string, events: number): Readonly<Record<string, EngineFindings>> {
  const patterns = choosePatterns();
  const counter = countMatches(engineQueries(patterns, events));
  const written = writeHistory(directory, { events }, counter.observe);
  const bytes = (written.bytes / 1e6).toFixed(0);
  console.log(
    `## ${events.toLocaleString("en")} events, ${bytes} MB in ${written.segments} segments\n`,
  );
  removeIndexes(directory);
  const bare = run(directory, events);
  const again = run(directory, events);
  console.log("| start | without indexes | as left behind |\n| --- | ---: | ---: |");
  console.log(
    `| seconds | ${(bare.openMs / 1_000).toFixed(2)} | ${(again.openMs / 1_000).toFixed(2)} |`,
  );
  console.log(`| RSS above an empty process, MiB | ${bare.residentMiB} | ${again.residentMiB} |\n`);
  console.log(
    "| query | matches | first ms | its processor ms | median ms | greatest | longest turn | its processor ms |\n" +
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  );
  for (const query of again.queries) {
    const { name, total } = query;
    const expected = counter.totals.get(name);
    if (expected !== undefined && expected !== total) {
      throw new Error(`${name}: ${total} matches, expected ${expected}`);
    }
    const { firstMs, firstCpuMs, medianMs, greatestMs, turn } = query;
    const { elapsed, processor } = turn;
    const figures = [firstMs, firstCpuMs, medianMs, greatestMs, elapsed, processor].map(ms);
    console.log(`| ${[name, total.toLocaleString("en"), ...figures].join(" | ")} |`);
  }
  console.log(
    `\nAppends, written: ${ms(again.appendMicroseconds)} µs each one by one, ` +
      `${ms(again.batchMicroseconds)} µs each in batches of 1,000\n`,
  );
  return { bare, again };
}

function run(directory: string, events: number): EngineFindings {
  const script = fileURLToPath(new URL("engine/measure.ts", import.meta.url));
  const args = [
    "--expose-gc",
    "--import",
    "tsx",
    script,
    directory,
    String(events),
    String(rounds),
  ];
  return JSON.parse(
    execFileSync(process.execPath, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    }),
  ) as EngineFindings;
}

/** Removes everything but the segments: the rest can be rebuilt. */
function removeIndexes(directory: string): void {
  const { audit } = new Layout(directory).organization("default");
  for (const name of readdirSync(audit)) if (!name.endsWith(".jsonl")) rmSync(join(audit, name));
}

function ms(value: number): string {
  return value.toFixed(value < 10 ? 2 : 0);
}
