/** The queries of the engine benchmark, and how many events each must find. */
import type { AuditFilter } from "../../src/audit/store.ts";
import { arrivals, type Arrival, type GeneratedReport } from "../generator.ts";

/** One query. */
export interface EngineQuery {
  readonly name: string;
  readonly filter: AuditFilter;
  readonly limit: number;
  readonly offset: number;
}

/** Texts whose frequency depends on the generated events. */
export interface Patterns {
  /** Occurs in one event. */
  readonly once: string;
  readonly rareProvider: string;
  /** Values that occur together, in a few of ten thousand events; and a trace, of some events. */
  readonly executor: string;
  readonly capability: string;
  readonly trace: string;
}

const SAMPLE = 20_000;

/** Chooses patterns from the beginning of the history, which is the same for all sizes. */
export function choosePatterns(): Patterns {
  const counts = new Map<string, number>();
  let once: string | undefined;
  let typical: GeneratedReport | undefined;
  for (const { report } of arrivals({ events: SAMPLE })) {
    counts.set(report.provider, (counts.get(report.provider) ?? 0) + 1);
    once ??= /[0-9a-f]{16}/.exec(report.command)?.[0];
    if (report.provider === "kubernetes" && report.consumer === "human") typical ??= report;
  }
  const [rarest] = [...counts].sort((a, b) => a[1] - b[1]);
  if (once === undefined || rarest === undefined || typical === undefined) {
    throw new Error("The sample holds no patterns");
  }
  const { executor, capability, trace_id: trace } = typical;
  return { once, rareProvider: rarest[0], executor, capability, trace };
}

/** The queries over a history of some events. */
export function engineQueries(
  { once, rareProvider, executor, capability, trace }: Patterns,
  events: number,
): readonly EngineQuery[] {
  const query = (name: string, filter: AuditFilter, offset = 0, limit = 100): EngineQuery => ({
    name,
    filter,
    limit,
    offset,
  });
  const denied = { decision: "DENIED" };
  return [
    query("newest page", {}),
    query("newest 1,000", {}, 0, 1_000),
    query("offset of half", {}, events / 2),
    query("denied", denied),
    query("denied, offset of 5 %", denied, events / 20),
    query("consumer ai", { consumer: "ai" }),
    query("common provider", { provider: "kubernetes" }),
    query("rare provider", { provider: rareProvider }),
    query("rare provider, denied, ci", { ...denied, provider: rareProvider, consumer: "ci" }),
    query("executor", { executor }),
    query("executor, allowed, capability", { executor, capability, status: "allowed" }),
    query("common provider, failed, ai", {
      provider: "kubernetes",
      status: "failed",
      consumer: "ai",
    }),
    query("trace", { trace_id: trace }),
    query("trace that is nowhere", { trace_id: "0af7651916cd43dd8448eb211c80319c" }),
    query("q, common phrase", { q: "get pods" }),
    query("q, very common word", { q: "PROD" }),
    query("q, in executors", { q: "user27@" }),
    query("q, in resources", { q: "team-33/api-14" }),
    query("q, found once", { q: once }),
    query("q, found nowhere", { q: "no such text 9f3c7a1e" }),
    query("q and denied", { ...denied, q: "delete" }),
  ];
}

/** Counts the events that each query must find, while they are generated. */
export function countMatches(queries: readonly EngineQuery[]): {
  readonly totals: ReadonlyMap<string, number>;
  readonly observe: (arrival: Arrival) => void;
} {
  const totals = new Map(queries.map(({ name }) => [name, 0]));
  const wanted = queries.map(({ name, filter }) => ({ name, filter, q: filter.q?.toLowerCase() }));
  return {
    totals,
    observe({ report }) {
      const text = searchedText(report);
      for (const { name, filter, q } of wanted) {
        const is = (one: string | undefined, value: string | undefined): boolean =>
          one === undefined || one === value;
        const matches =
          is(filter.decision, report.policy_decision) &&
          is(filter.provider, report.provider) &&
          is(filter.consumer, report.consumer) &&
          is(filter.executor, report.executor) &&
          is(filter.capability, report.capability) &&
          is(filter.status, report.status ?? report.policy_decision.toLowerCase()) &&
          is(filter.trace_id, report.trace_id) &&
          (q === undefined || text.includes(q));
        if (matches) totals.set(name, (totals.get(name) ?? 0) + 1);
      }
    },
  };
}

/** The searched fields, separated by line ends, which no pattern contains. */
function searchedText(report: GeneratedReport): string {
  const { command, executor, resource, provider, capability } = report;
  return `${command}\n${executor}\n${resource}\n${provider}\n${capability}`.toLowerCase();
}
