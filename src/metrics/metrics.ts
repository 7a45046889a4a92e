import { SECOND_MS, type Clock } from "../core/clock.ts";
import type { SetQuota } from "../core/quota.ts";
import { writeExposition, single, type Family } from "./exposition.ts";
import { HttpMetrics } from "./http-metrics.ts";
import { LogMetrics } from "./log-metrics.ts";
import { ProcessMetrics } from "./process-metrics.ts";

/** What the audit store counts; all but `pending` since the start. */
export interface AuditMetrics {
  readonly stored: number;
  /** Events that had been stored before, and were answered with what was stored. */
  readonly repeated: number;
  readonly failed: number;
  /** Events that were given and are not answered yet. */
  readonly pending: number;
  /** Text that waits to be written or synced, in bytes, where it is all ASCII. */
  readonly pendingBytes: number;
}

/** Where the figures come from that are not counted here; asked at each scrape. */
export interface Gauges {
  readonly now: Clock;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly build: { readonly version: string; readonly commit: string };
  readonly bodyBytesHeld: () => number;
  readonly audit: () => AuditMetrics;
  readonly auditStreams: () => number;
  /** Lines of the logs that could not be read back. */
  readonly damagedLines: () => number;
  readonly fleet: () => { readonly online: number; readonly total: number };
  readonly organizations: () => number;
  readonly quotas: () => readonly SetQuota[];
  readonly isReady: () => boolean;
  /** Bytes that are free where the data directory lies. */
  readonly freeBytes: () => Promise<number>;
}

/** Everything that is counted, and the text that tells it. Exists only where metrics are on. */
export class Metrics {
  readonly http = new HttpMetrics();
  readonly logs = new LogMetrics();
  readonly #process = new ProcessMetrics();

  /** Ends the watch on the event loop. */
  close(): void {
    this.#process.close();
  }

  /** All figures at this moment, in the Prometheus text format. */
  async text(gauges: Gauges): Promise<string> {
    const [freeBytes, ofProcess] = await Promise.all([
      gauges.freeBytes(),
      this.#process.families(),
    ]);
    return writeExposition([
      ...serviceFamilies(gauges),
      ...this.http.families(),
      single(
        "signalbox_http_body_bytes_held",
        "gauge",
        "Bytes of request bodies that are being received.",
        gauges.bodyBytesHeld(),
      ),
      ...auditFamilies(gauges),
      ...quotaFamilies(gauges.quotas()),
      ...this.logs.families(),
      single(
        "signalbox_data_free_bytes",
        "gauge",
        "Free space where the data directory lies.",
        freeBytes,
      ),
      ...ofProcess,
    ]);
  }
}

function serviceFamilies(gauges: Gauges): readonly Family[] {
  const { startedAt, now, build } = gauges;
  const { online, total } = gauges.fleet();
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
    single("signalbox_ready", "gauge", "1 as long as /ready says so.", Number(gauges.isReady())),
    single(
      "signalbox_organizations",
      "gauge",
      "Organizations that are kept.",
      gauges.organizations(),
    ),
    single("signalbox_fleet_runtimes", "gauge", "Runtimes of all organizations.", total),
    single("signalbox_fleet_runtimes_online", "gauge", "Those of them that are online.", online),
  ];
}

function quotaFamilies(quotas: readonly SetQuota[]): readonly Family[] {
  const samples = (valueOf: (quota: SetQuota) => number): Family["samples"] =>
    quotas.map((quota) => ({ labels: { quota: quota.setting }, value: valueOf(quota) }));
  return [
    {
      name: "signalbox_quota_limit",
      type: "gauge",
      help: "What each quota allows an organization; MAX_ORGANIZATIONS counts the organizations.",
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

function auditFamilies(gauges: Gauges): readonly Family[] {
  const { stored, repeated, failed, pending, pendingBytes } = gauges.audit();
  const results = Object.entries({ stored, repeated, failed });
  return [
    {
      name: "signalbox_audit_events_total",
      type: "counter",
      help: "Events that were ingested, that had been before, and that could not be stored.",
      samples: results.map(([result, value]) => ({ labels: { result }, value })),
    },
    single("signalbox_audit_pending_events", "gauge", "Events not answered yet.", pending),
    single(
      "signalbox_audit_pending_bytes",
      "gauge",
      "Text of the audit log that is not safe yet, a character counted as a byte.",
      pendingBytes,
    ),
    single(
      "signalbox_damaged_lines",
      "gauge",
      "Lines of the logs of audit, fleet and activity that could not be read back.",
      gauges.damagedLines(),
    ),
    single("signalbox_audit_streams", "gauge", "Live streams.", gauges.auditStreams()),
  ];
}
