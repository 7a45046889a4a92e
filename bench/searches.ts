/**
 * Measures queries of 1,000,000 events by HTTP, in the full run of 10,000,000, over PostgreSQL and over files, and how
 * much longer events wait to be stored while costly ones run.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startContestant, type ContestantName } from "./contestants.ts";
import { choosePatterns } from "./engine/queries.ts";
import { writeHistory } from "./generate.ts";
import { timed } from "./hostile/wire.ts";
import { ingestDuring } from "./ingest-during.ts";
import type { Started } from "./processes.ts";
import { table } from "./report.ts";
import { median, quantile } from "./statistics.ts";

const EVENTS = { short: 1_000_000, full: 10_000_000 };
const AGAIN = 4;
const QUIET_MS = 5_000;
const SEARCHING_MS = 20_000;
const SEARCHERS = 2;
const ENGINES = ["signalbox + postgres", "signalbox"] as const satisfies readonly ContestantName[];

const { rareProvider, executor, once } = choosePatterns();
const DAYS = "audit/histogram?from=2026-08-01T00:00:00Z&to=2026-12-01T00:00:00Z&interval=1d";
/** Each query, and whether it belongs to the costly ones that run beside the ingest. */
const QUERIES: readonly (readonly [name: string, path: string, isCostly?: true])[] = [
  ["newest page", "audit"],
  ["page at offset 500,000", "audit?offset=500000"],
  ["dashboard", "dashboard"],
  ["denied", "audit?decision=DENIED"],
  ["rare provider, denied, ci", `audit?provider=${rareProvider}&decision=DENIED&consumer=ci`],
  ["one executor", `audit?executor=${encodeURIComponent(executor)}`],
  ["`q`, common phrase", "audit?q=get%20pods", true],
  ["`q`, very common word", "audit?q=prod", true],
  ["`q`, found once", `audit?q=${once}`],
  ["`q`, found nowhere", "audit?q=no%20such%20text%209f3c7a1e"],
  ["`q`, two letters that are common", "audit?q=ge", true],
  ["`q`, two letters that are nowhere", "audit?q=%C3%A6%C3%B8", true],
  ["executors with an asterisk", "audit?executor=user2*&wildcards=executor", true],
  ["histogram of all days", DAYS],
  ["histogram of all days, one provider", `${DAYS}&provider=kubernetes`, true],
  ["export of all denied", "audit/export?decision=DENIED"],
];

/** An answer: how long it took, and whether it was refused because it would take too long. */
interface Asked {
  readonly ms: number;
  readonly isRefused: boolean;
}

interface Measured {
  readonly queries: readonly (readonly Asked[])[];
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  readonly searches: number;
}

/** Measures and prints two tables. */
export async function measureSearches(directory: string, isFull: boolean): Promise<void> {
  const events = isFull ? EVENTS.full : EVENTS.short;
  const own = join(directory, "searches");
  // The database runs as another user, who must be able to pass through.
  mkdirSync(own, { mode: 0o711 });
  const history = join(own, "history");
  writeHistory(history, { events });
  const measured: Measured[] = [];
  for (const engine of ENGINES) {
    const server = await startContestant(engine, { directory: own, history });
    try {
      measured.push(await measureOne(server));
    } finally {
      await server.stop();
    }
  }
  report(measured, events);
}

async function measureOne(server: Started): Promise<Measured> {
  const queries = [];
  for (const [, path] of QUERIES) {
    const asked: Asked[] = [];
    for (let i = 0; i <= AGAIN; i++) asked.push(await ask(server, path));
    queries.push(asked);
  }
  await ingestDuring(server, () => sleep(QUIET_MS)); // warms up
  const alone = await ingestDuring(server, () => sleep(QUIET_MS));
  let searches = 0;
  const beside = await ingestDuring(server, async () => {
    const costly = QUERIES.filter(([, , isCostly]) => isCostly);
    const end = performance.now() + SEARCHING_MS;
    const search = async (offset: number): Promise<void> => {
      for (let i = offset; performance.now() < end; i++) {
        await ask(server, costly[i % costly.length]?.[1] ?? "");
        searches++;
      }
    };
    await Promise.all(Array.from({ length: SEARCHERS }, (_, i) => search(i)));
  });
  return { queries, alone, beside, searches };
}

async function ask({ url }: Started, path: string): Promise<Asked> {
  const { status, ms } = await timed(`${url}/api/public/${path}`);
  if (status !== 200 && status !== 503) throw new Error(`${path} was answered with ${status}`);
  return { ms, isRefused: status === 503 };
}

function report(measured: readonly Measured[], events: number): void {
  const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  const cell = (asked: readonly Asked[]): string =>
    ms(median(asked.map((one) => one.ms))) + (asked.some((one) => one.isRefused) ? " (503)" : "");
  const rows = QUERIES.map(([name], at) => [
    name,
    ...measured.flatMap(({ queries }) => {
      const [first, ...again] = queries[at] ?? [];
      return [cell(first ? [first] : []), cell(again)];
    }),
  ]);
  const columns = ENGINES.flatMap((engine) => [`${engine}: first, ms`, `median of ${AGAIN}, ms`]);
  console.log(
    `\n### Queries of ${events.toLocaleString("en")} events\n\n${table(["Query", ...columns], rows)}\n`,
  );
  const ingest = measured.map(({ alone, beside, searches }, at) => [
    ENGINES[at] ?? "",
    `${ms(quantile(alone, 0.5))} / ${ms(quantile(alone, 0.99))} ms`,
    `${ms(quantile(beside, 0.5))} / ${ms(quantile(beside, 0.99))} ms`,
    `${searches}`,
  ]);
  const head = ["Ingest", "alone, p50 / p99", "beside searches", "searches"];
  console.log(`${table(head, ingest)}\n`);
}
