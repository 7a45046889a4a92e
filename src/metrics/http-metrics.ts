import type { Family, Sample } from "./exposition.ts";
import { DurationHistogram } from "./histogram.ts";

/** The counted properties of a request; `route` is a row's path, never the requested path. */
export interface AnsweredRequest {
  readonly method: string;
  /** `undefined` if no row was found. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number | undefined;
}

interface Series {
  readonly route: string;
  readonly method: string;
  readonly statuses: Map<number, number>;
  readonly durations: DurationHistogram;
}

const BOUNDS_MS = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const NO_ROUTE = "none";
const OTHER_METHOD = "other";

/**
 * Counts requests by route, method and status, and their durations by route and method. The number
 * of series is bounded by the rows, for any requests of clients.
 */
export class HttpMetrics {
  readonly #routes = new Map<string, Map<string, Series>>();

  count({ method, route, status, durationMs }: AnsweredRequest): void {
    const series = this.#series(route ?? NO_ROUTE, method);
    series.statuses.set(status, (series.statuses.get(status) ?? 0) + 1);
    if (durationMs !== undefined) series.durations.observe(durationMs);
  }

  families(): readonly Family[] {
    const all = Array.from(this.#routes.values(), (methods) => [...methods.values()]).flat();
    return [
      {
        name: "signalbox_http_requests_total",
        type: "counter",
        help: "Answered requests, by the path of the route, method and status.",
        samples: all.flatMap(statusSamples),
      },
      {
        name: "signalbox_http_request_duration_seconds",
        type: "histogram",
        help: "Time from a request's headers to its answer; of a stream, to its end.",
        samples: all.flatMap(({ route, method, durations }) =>
          durations.samples({ route, method }),
        ),
      },
    ];
  }

  #series(route: string, given: string): Series {
    const method = METHODS.has(given) ? given : OTHER_METHOD;
    let methods = this.#routes.get(route);
    if (methods === undefined) this.#routes.set(route, (methods = new Map()));
    let series = methods.get(method);
    if (series === undefined) {
      const durations = new DurationHistogram(BOUNDS_MS);
      methods.set(method, (series = { route, method, statuses: new Map(), durations }));
    }
    return series;
  }
}

function statusSamples({ route, method, statuses }: Series): readonly Sample[] {
  return Array.from(statuses, ([status, value]) => ({
    labels: { route, method, status: String(status) },
    value,
  }));
}
