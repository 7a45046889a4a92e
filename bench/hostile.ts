/**
 * The cost of hostile clients for others; each measurement uses a fresh server with default
 * settings. A missed target is only reported, since milliseconds and megabytes depend on the
 * machine; a wrong answer makes the run fail.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startService } from "./contestants.ts";
import { writeHistory } from "./generate.ts";
import { requireStatuses, WrongAnswer, type Finding } from "./hostile/finding.ts";
import { exportFlood } from "./hostile/exports.ts";
import * as floods from "./hostile/floods.ts";
import * as shares from "./hostile/fair-shares.ts";
import { guesses } from "./hostile/guesses.ts";
import * as large from "./hostile/large-answers.ts";
import * as measures from "./hostile/measures.ts";
import { timed } from "./hostile/wire.ts";
import type { Started } from "./processes.ts";
import { table } from "./report.ts";
import { HISTORY_EVENTS } from "./scenarios.ts";

interface Measure {
  readonly name: string;
  /**
   * @param data the directory for all stored data
   */
  readonly run: (server: Started, data: string) => Promise<readonly Finding[]>;
  /** The audit events that the server starts with. */
  readonly events?: number;
  readonly settings?: Readonly<Record<string, string>>;
  readonly isFull?: true;
}

const MEASURES: readonly Measure[] = [
  { name: "idle", run: measures.idleAndHalfSent },
  { name: "declared", run: measures.declaredBodies },
  { name: "chunked", run: measures.chunkedBodies },
  { name: "batches", run: measures.chunkedBatches },
  { name: "logins", run: measures.logins, settings: measures.ADMIN_SETTINGS },
  { name: "guesses from 14", run: guesses(14), settings: measures.ADMIN_SETTINGS },
  { name: "guesses from 100", run: guesses(100), settings: measures.ADMIN_SETTINGS },
  { name: "guesses from new", run: guesses(Infinity), settings: measures.ADMIN_SETTINGS },
  { name: "readers", run: measures.slowReaders, events: 100_000 },
  { name: "exports", run: exportFlood },
  { name: "bodies held", run: shares.heldBodies },
  { name: "unread", run: shares.unreadAnswers, events: 100_000 },
  { name: "streams", run: shares.manyStreams },
  { name: "connections", run: shares.stalledConnections, settings: shares.FEW_CONNECTIONS },
  { name: "busy clients", run: shares.busyClients },
  { name: "arriving client", run: shares.arrivingClient },
  { name: "aliases", run: floods.ALIASES },
  { name: "inflated", run: floods.INFLATED },
  { name: "slow events", run: floods.SLOW_EVENTS },
  { name: "slow batches", run: floods.SLOW_BATCHES },
  { name: "searches", run: measures.searches, events: HISTORY_EVENTS, isFull: true },
  {
    name: "long events",
    run: large.rushes(large.fillLongEvents, [
      { path: "/portal/audit", requests: 100 },
      { path: "/", requests: 100, headers: { Accept: "text/html" } },
      { path: "/api/public/dashboard", requests: 100 },
      { path: "/api/v1/dashboard", requests: 100 },
      { path: "/api/public/audit", requests: 20 },
      { path: "/api/public/audit", requests: 100, read: "never" },
    ]),
  },
  {
    name: "activity",
    run: large.rushes(large.fillActivity, [
      { path: "/api/v1/activity?limit=1000", requests: 100 },
      { path: "/api/v1/activity?limit=1000", requests: 100, read: "never" },
    ]),
  },
  {
    name: "policies page",
    run: large.rushes(large.fillPolicies, [
      { path: "/portal/policies", requests: 100 },
      { path: "/portal/policies?version=v1&against=v2", requests: 100 },
      { path: "/portal/policies/new?from=v1", requests: 100 },
    ]),
  },
  {
    name: "fleet",
    run: large.rushes(large.fillFleet, [
      { path: "/api/public/fleet", requests: 1_000 },
      { path: "/api/public/fleet", requests: 100, read: "never" },
    ]),
  },
];

/**
 * Measures everything, or the chosen measurement, and prints a table.
 *
 * @param directory the servers' data is stored here
 * @param chosen `hostile` for everything, `hostile:NAME` for one measurement
 * @returns whether every answer was right
 */
export async function measureHostile(
  directory: string,
  full: boolean,
  chosen: readonly string[] = ["hostile"],
): Promise<boolean> {
  const findings: Finding[] = [];
  const faults: string[] = [];
  for (const measure of MEASURES) {
    const isNamed = chosen.includes(`hostile:${measure.name}`);
    if (!isNamed && (!chosen.includes("hostile") || (measure.isFull && !full))) continue;
    try {
      findings.push(...(await measureOne(measure, join(directory, measure.name))));
    } catch (error) {
      if (!(error instanceof WrongAnswer)) throw error;
      faults.push(`${measure.name}: ${error.message}`);
    }
  }
  console.log(`\n### Hostile clients\n\n${findingsTable(findings)}\n`);
  for (const fault of faults) console.log(`**Wrong**: ${fault}`);
  return faults.length === 0;
}

async function measureOne(measure: Measure, own: string): Promise<readonly Finding[]> {
  mkdirSync(own);
  const history = measure.events === undefined ? undefined : join(own, "history");
  if (history !== undefined) writeHistory(history, { events: measure.events ?? 0 });
  const server = await startService({ directory: own, history }, measure.settings ?? {});
  try {
    // The memory of every server's first requests is not a cost of the hostile clients.
    for (let i = 0; i < 200; i++) {
      const body = JSON.stringify({ command: `warm up ${i}` });
      const answer = await timed(`${server.url}/api/public/audit`, { method: "POST", body });
      requireStatuses("ingest", [answer.status], [202]);
    }
    const findings = await measure.run(server, history ?? join(own, "data"));
    requireStatuses("/health afterwards", [(await timed(`${server.url}/health`)).status], [200]);
    return findings;
  } finally {
    await server.stop();
  }
}

function findingsTable(findings: readonly Finding[]): string {
  const rows = findings.map(({ what, measured, value, target, unit }) => [
    what,
    measured,
    target === undefined ? "" : `< ${target} ${unit}`,
    target === undefined ? "" : value < target ? "met" : "**missed**",
  ]);
  return table(["what", "measured", "wanted", ""], rows);
}
