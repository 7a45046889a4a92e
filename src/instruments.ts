/** What is seen of the service from outside: whether it can do its work, and its metrics where they are on. */
import { statfs } from "node:fs/promises";
import type { Config } from "./config.ts";
import { SECOND_MS, type Clock } from "./core/clock.ts";
import { systemStopwatch } from "./core/timers.ts";
import type { ServiceCondition } from "./metadata/service.ts";
import { Metrics, type Gauges } from "./metrics/metrics.ts";
import type { MetricsSource } from "./metrics/routes.ts";
import type { MeasureFiles, Stores } from "./stores.ts";
import { measuredFiles } from "./storage/measured-files.ts";

/** Begins to count, where the deployment shows its metrics. */
export function createMetrics({ metrics }: Config): Metrics | undefined {
  return metrics === "off" ? undefined : new Metrics();
}

/** How the stores' files are measured; as they are where nothing is counted. */
export function fileMeasures(metrics: Metrics | undefined): MeasureFiles {
  if (metrics === undefined) return (_log, files) => files;
  return (log, files) => measuredFiles(files, systemStopwatch, metrics.logs[log]);
}

/**
 * Whether the stores can be written, by what they say themselves. They are asked to try again at most
 * once a second, however often somebody wants to know.
 */
export function conditionOf(stores: Stores, now: Clock): ServiceCondition {
  const parts = [
    ["audit log", stores.audit],
    ["fleet log", stores.fleet],
    ["activity log", stores.activity],
    ["policies", stores.policies],
    ["organizations and users", stores.organizations],
    ["API keys", stores.keys],
    ["settings", stores.settings],
    ["provider overrides", stores.overrides],
  ] as const;
  let triedAt = -Infinity;
  return {
    unwritable: () =>
      parts
        .filter(([, { failure }]) => failure !== undefined)
        .map(([name, { failure }]) => `${name}${codeOf(failure)}`),
    recover() {
      if (Math.abs(now() - triedAt) < SECOND_MS) return; // a clock may be set back
      triedAt = now();
      for (const [, store] of parts) store.recover();
    },
    hasDamage: () => stores.damage.lines > 0,
  };
}

/** What the operating system calls a failure; its whole message would name a path. */
function codeOf(failure: unknown): string {
  const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}

/** What the figures are taken from that only the composition root has at hand. */
export interface Instruments extends Pick<Gauges, "now" | "startedAt" | "build" | "quotas"> {
  readonly stores: Stores;
  readonly condition: ServiceCondition;
  readonly bodyBytesHeld: () => number;
  readonly auditStreams: () => number;
}

/** Joins what was counted with what the parts say at each scrape. */
export function metricsSource(
  metrics: Metrics | undefined,
  config: Config,
  { stores, condition, ...gauges }: Instruments,
): MetricsSource | undefined {
  if (metrics === undefined) return undefined;
  const { audit, damage, fleet, organizations } = stores;
  const sources: Gauges = {
    ...gauges,
    audit: () => {
      const { stored, repeated, failed, pending } = audit.counts;
      return { stored, repeated, failed, pending, pendingBytes: audit.held };
    },
    damagedLines: () => damage.lines,
    fleet: () => fleet.totals(gauges.now()),
    organizations: () => organizations.ids().length,
    isReady: () => condition.unwritable().length === 0,
    freeBytes: async () => {
      const { bavail, bsize } = await statfs(config.dataDir);
      return bavail * bsize;
    },
  };
  const token = config.metrics === "open" ? undefined : config.metrics;
  return { token, text: () => metrics.text(sources) };
}
