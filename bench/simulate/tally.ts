import { quantile } from "../statistics.ts";

const MOST_TIMES = 200_000;

/** Counts the outcomes of all requests of a simulation. */
export class Tally {
  requests = 0;
  /** Attempts that got no answer, or a 5xx or 429: worth another attempt. */
  failures = 0;
  /** Requests that were answered with another 4xx: another attempt would not help. */
  refused = 0;
  /** Events that were sent more than once. */
  resent = 0;
  /** Events that were acknowledged. */
  reported = 0;
  policies = 0;
  notModified = 0;
  readonly #times = new Float64Array(MOST_TIMES);
  #timed = 0;
  #lastRequests = 0;
  #lastSeconds = 0;
  #reasons = new Map<string, number>();

  /** Adds the time of an answer in milliseconds; the last 200,000 are kept. */
  took(ms: number): void {
    this.#times[this.#timed++ % MOST_TIMES] = ms;
  }

  /** Adds the reason of a failed request. */
  because(reason: string): void {
    if (this.#reasons.size < 50 || this.#reasons.has(reason)) {
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    }
  }

  /** One line about the progress, with the rate since the last line. */
  line(seconds: number): string {
    const rate =
      (this.requests - this.#lastRequests) / Math.max(0.001, seconds - this.#lastSeconds);
    this.#lastRequests = this.requests;
    this.#lastSeconds = seconds;
    return (
      `${seconds.toFixed(0).padStart(5)} s  ${this.requests} requests (${rate.toFixed(0)}/s), ` +
      `${this.reported} events stored, ${this.failures} failures, ` +
      `${this.refused} refused, ${this.resent} events resent`
    );
  }

  /** The totals. */
  summary(seconds: number, unsent: number): string {
    const times = this.#times.subarray(0, Math.min(this.#timed, MOST_TIMES));
    const share = this.policies === 0 ? 0 : (this.notModified / this.policies) * 100;
    const rows: readonly (readonly [string, string])[] = [
      ["seconds", seconds.toFixed(1)],
      ["requests", `${this.requests} (${(this.requests / seconds).toFixed(1)}/s)`],
      ["failed attempts", String(this.failures)],
      ["refused", String(this.refused)],
      ["events stored", String(this.reported)],
      ["events resent", String(this.resent)],
      ["events never stored", String(unsent)],
      ["policy not modified", `${share.toFixed(1)} % of ${this.policies}`],
      [
        "latency p50 / p99",
        `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)} ms`,
      ],
      ...[...this.#reasons].map(([reason, count]) => ["", `${count} x ${reason}`] as const),
    ];
    return rows.map(([name, value]) => `${name.padEnd(22)}${value}`).join("\n");
  }
}
