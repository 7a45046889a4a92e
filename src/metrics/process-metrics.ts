import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay, performance, type IntervalHistogram } from "node:perf_hooks";
import { SECOND_MS } from "../core/clock.ts";
import { single, type Family } from "./exposition.ts";

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;
const US_PER_SECOND = 1e6;

/** Metrics of the process. The event loop delays are those since the last scrape. */
export class ProcessMetrics {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  /** Begins to watch the event loop; `close` stops it. */
  constructor() {
    this.#delay.enable();
  }

  close(): void {
    this.#delay.disable();
  }

  async families(): Promise<readonly Family[]> {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const cpuSeconds = (user + system) / US_PER_SECOND;
    const openFiles = await countOpenFiles();
    const startSeconds = performance.timeOrigin / SECOND_MS;
    return [
      single(
        "process_start_time_seconds",
        "gauge",
        "Start of the process, Unix time.",
        startSeconds,
      ),
      ...(openFiles === undefined
        ? []
        : [single("process_open_fds", "gauge", "Open file descriptors.", openFiles)]),
      single("process_cpu_seconds_total", "counter", "CPU time spent by the process.", cpuSeconds),
      single("process_resident_memory_bytes", "gauge", "Resident memory.", rss),
      single("process_heap_bytes", "gauge", "Heap that the engine has reserved.", heapTotal),
      single("signalbox_heap_used_bytes", "gauge", "Heap in use.", heapUsed),
      single("signalbox_external_memory_bytes", "gauge", "Buffers outside the heap.", external),
      this.#delays(),
    ];
  }

  #delays(): Family {
    const delay = this.#delay;
    // The histogram counts whole intervals of its timer, and is empty just after a reset.
    const seconds = (ns: number) => Math.max(0, ns / NS_PER_SECOND - RESOLUTION_MS / 1_000);
    const values = {
      p50: delay.count === 0 ? 0 : seconds(delay.percentile(50)),
      p99: delay.count === 0 ? 0 : seconds(delay.percentile(99)),
      max: delay.count === 0 ? 0 : seconds(delay.max),
    };
    delay.reset();
    return {
      name: "signalbox_event_loop_delay_seconds",
      type: "gauge",
      help: "Delays of the event loop since the last scrape.",
      samples: Object.entries(values).map(([statistic, value]) => ({
        labels: { statistic },
        value,
      })),
    };
  }
}

/** The number of open file descriptors; `undefined` if the system has no `/proc`. */
async function countOpenFiles(): Promise<number | undefined> {
  try {
    return (await readdir("/proc/self/fd")).length - 1; // without the descriptor that reads the list
  } catch {
    return undefined;
  }
}
