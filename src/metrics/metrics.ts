import type { Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import type { SetQuota } from "../core/quota.ts";
import type { AuditFigures, EngineFigures, EngineHealth, SigningFigures } from "../engine.ts";
import { writeExposition, single, type Family } from "./exposition.ts";
import { HttpMetrics } from "./http-metrics.ts";
import { LogMetrics } from "./log-metrics.ts";
import { ProcessMetrics } from "./process-metrics.ts";

/** The sources of the figures that are not counted here; read at each scrape. */
export interface Gauges {
  readonly now: Clock;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly build: { readonly version: string; readonly commit: string };
  readonly bodyBytesHeld: () => number;
  readonly auditStreams: () => number;
  readonly waitingFetches: () => number;
  /** The number of secrets that each rule has replaced. */
  readonly redactions: () => ReadonlyMap<string, number>;
  readonly quotas: () => readonly SetQuota[];
  readonly engine: () => Awaitable<EngineFigures>;
  readonly engineHealth: () => Awaitable<EngineHealth>;
}

/** All metrics, and their text. Exists only if metrics are on. */
export class Metrics {
  readonly http = new HttpMetrics();
  readonly logs = new LogMetrics();
  readonly #process = new ProcessMetrics();

  /** Stops watching the event loop. */
  close(): void {
    this.#process.close();
  }

  /** All figures at this moment, in the Prometheus text format. */
  async text(gauges: Gauges): Promise<string> {
    const [engine, { unwritable }, ofProcess] = await Promise.all([
      gauges.engine(),
      gauges.engineHealth(),
      this.#process.families(),
    ]);
    return writeExposition([
      ...serviceFamilies(gauges, engine, unwritable.length === 0),
      ...this.http.families(),
      single(
        "signalbox_http_body_bytes_held",
        "gauge",
        "Bytes of request bodies that are being received.",
        gauges.bodyBytesHeld(),
      ),
      ...auditFamilies(engine.audit),
      single("signalbox_audit_streams", "gauge", "Live streams.", gauges.auditStreams()),
      single(
        "signalbox_waiting_fetches",
        "gauge",
        "Requests that wait for another policy version.",
        gauges.waitingFetches(),
      ),
      {
        name: "signalbox_audit_redactions_total",
        type: "counter",
        help: "Secrets that were replaced in texts of events, by rule.",
        samples: Array.from(gauges.redactions(), ([rule, value]) => ({ labels: { rule }, value })),
      },
      ...(engine.signing ? signingFamilies(engine.signing) : []),
      ...quotaFamilies(gauges.quotas()),
      ...(engine.files ? [...this.logs.families(), ...fileFamilies(engine.files)] : []),
      ...ofProcess,
    ]);
  }
}

function serviceFamilies(
  { startedAt, now, build }: Gauges,
  { organizations, fleet: { online, total } }: EngineFigures,
  isReady: boolean,
): readonly Family[] {
  const labels = { version: build.version, commit: build.commit, node: process.versions.node };
  const uptimeSeconds = Math.max(0, (now() - startedAt) / SECOND_MS);
  return [
    {
      name: "signalbox_build_info",
      type: "gauge",
      help: "Always 1; the labels say what is running.",
      samples: [{ labels, value: 1 }],
    },
    single("signalbox_uptime_seconds", "gauge", "Time since the start.", uptimeSeconds),
    single("signalbox_ready", "gauge", "1 while /ready answers 200.", Number(isReady)),
    single("signalbox_organizations", "gauge", "Organizations.", organizations),
    single("signalbox_fleet_runtimes", "gauge", "Runtimes of all organizations.", total),
    single(
      "signalbox_fleet_runtimes_online",
      "gauge",
      "Runtimes of all organizations that are online.",
      online,
    ),
  ];
}

function quotaFamilies(quotas: readonly SetQuota[]): readonly Family[] {
  const samples = (valueOf: (quota: SetQuota) => number): Family["samples"] =>
    quotas.map((quota) => ({ labels: { quota: quota.setting }, value: valueOf(quota) }));
  return [
    {
      name: "signalbox_quota_limit",
      type: "gauge",
      help: "The limit of each quota, for each organization; MAX_ORGANIZATIONS limits their number.",
      samples: samples(({ limit }) => limit),
    },
    {
      name: "signalbox_quota_refusals_total",
      type: "counter",
      help: "Requests that a quota refused.",
      samples: samples(({ refusals }) => refusals),
    },
  ];
}

function auditFamilies(figures: AuditFigures): readonly Family[] {
  const { stored, repeated, failed, pending, pendingBytes } = figures;
  const results = Object.entries({ stored, repeated, failed });
  return [
    {
      name: "signalbox_audit_events_total",
      type: "counter",
      help: "Reported events: stored, repeated (already stored), or failed.",
      samples: results.map(([result, value]) => ({ labels: { result }, value })),
    },
    single("signalbox_audit_pending_events", "gauge", "Events not answered yet.", pending),
    single(
      "signalbox_audit_pending_bytes",
      "gauge",
      "Text of the audit log that is not durable yet; a character counts as a byte.",
      pendingBytes,
    ),
  ];
}

function signingFamilies(figures: SigningFigures): readonly Family[] {
  const { lines, lagSeconds, contradicted, deliveryLagSeconds } = figures;
  return [
    single("signalbox_signed_lines", "gauge", "Lines of logs that checkpoints vouch for.", lines),
    single(
      "signalbox_signing_lag_seconds",
      "gauge",
      "Everything that was stored before this time is signed; rises while some log is not signed.",
      lagSeconds,
    ),
    single(
      "signalbox_contradicted_logs",
      "gauge",
      "Logs that contradict their checkpoints, and are no longer signed.",
      contradicted,
    ),
    ...(deliveryLagSeconds === undefined
      ? []
      : [
          single(
            "signalbox_checkpoint_delivery_lag_seconds",
            "gauge",
            "Time since the oldest checkpoint waits that CHECKPOINT_URL has not taken.",
            deliveryLagSeconds,
          ),
        ]),
  ];
}

function fileFamilies(files: NonNullable<EngineFigures["files"]>): readonly Family[] {
  return [
    single(
      "signalbox_damaged_lines",
      "gauge",
      "Lines of the logs of audit, fleet and activity that could not be read back.",
      files.damagedLines,
    ),
    single(
      "signalbox_data_free_bytes",
      "gauge",
      "Free space on the disk of the data directory.",
      files.freeBytes,
    ),
  ];
}
