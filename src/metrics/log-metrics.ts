import type { Family } from "./exposition.ts";
import { DurationHistogram } from "./histogram.ts";

const BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];

/** The bytes written to one kind of log, and its syncs. */
class LogSeries {
  readonly syncs = new DurationHistogram(BOUNDS_MS);
  failed = 0;
  bytes = 0;

  /** Counts bytes that were passed to the operating system. */
  readonly wrote = (bytes: number): void => {
    this.bytes += bytes;
  };

  /** Counts a sync and its duration in milliseconds. */
  readonly synced = (ms: number, error: unknown): void => {
    this.syncs.observe(ms);
    if (error) this.failed++;
  };
}

/** Counts the writes and syncs of the append logs. */
export class LogMetrics {
  readonly audit = new LogSeries();
  readonly fleet = new LogSeries();

  families(): readonly Family[] {
    const all = Object.entries({ audit: this.audit, fleet: this.fleet });
    const perLog = (value: (series: LogSeries) => number) =>
      all.map(([log, series]) => ({ labels: { log }, value: value(series) }));
    return [
      {
        name: "signalbox_log_written_bytes_total",
        type: "counter",
        help: "Bytes written to append logs since the start.",
        samples: perLog(({ bytes }) => bytes),
      },
      {
        name: "signalbox_log_sync_duration_seconds",
        type: "histogram",
        help: "Time that fdatasync took on append logs, failed ones included.",
        samples: all.flatMap(([log, { syncs }]) => syncs.samples({ log })),
      },
      {
        name: "signalbox_log_sync_failures_total",
        type: "counter",
        help: "Syncs that failed; the writes that they covered were refused.",
        samples: perLog(({ failed }) => failed),
      },
    ];
  }
}
