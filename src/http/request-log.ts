import { describeError, type Log } from "../core/log.ts";
import { Refusal, Unauthenticated } from "../core/errors.ts";
import { CLIENT_GONE } from "./waiting-client.ts";
import type { RequestSummary } from "./request-summary.ts";

/** Logs requests: each at `debug`, changes and refused credentials at `info`, and a summary a minute. */
export interface RequestLog {
  readonly onAnswered: (summary: RequestSummary) => void;
  /** Logs a summary of the requests since the last summary, if there were any. */
  summarize(): void;
}

/** Creates a request log. It never contains queries, bodies or credentials. */
export function createRequestLog(log: Log): RequestLog {
  const counts = { requests: 0, refused: 0, failed: 0 };
  const logsAll = log.enabled("debug");

  return {
    onAnswered(summary) {
      const { status, error } = summary;
      counts.requests++;
      if (status >= 500) counts.failed++;
      else if (status >= 400) counts.refused++;
      if (error === undefined && !summary.isChange && !logsAll) return;

      const fields = fieldsOf(summary);
      if (error !== undefined && (!(error instanceof Refusal) || error.cause !== undefined)) {
        log.error("request failed", { ...fields, error: describeError(error) });
      } else if (error instanceof Unauthenticated && error.tokenRefused) {
        log.info("credentials refused", fields);
      } else if (summary.isChange && (status < 400 || isUnread(summary))) {
        log.info("changed", fields);
      } else {
        log.debug("request", fields);
      }
    },
    summarize() {
      if (counts.requests === 0) return;
      log.info("requests in the last minute", counts);
      Object.assign(counts, { requests: 0, refused: 0, failed: 0 });
    },
  };
}

/** Whether the request was carried out, but its client disconnected before the response. */
function isUnread({ status, error }: RequestSummary): boolean {
  return status === CLIENT_GONE && error === undefined;
}

/** The fields of a request's log line. The path is the row's template, never the requested path. */
function fieldsOf(summary: RequestSummary): Readonly<Record<string, string | number | undefined>> {
  const { method, route, status, durationMs, contentLength } = summary;
  return {
    method,
    route,
    status,
    duration_ms: durationMs === undefined ? undefined : Math.round(durationMs * 1_000) / 1_000,
    bytes_in: contentLength === undefined ? undefined : Number(contentLength),
    bytes_out: summary.bytesSent,
    request: summary.requestId,
    organization: summary.organization,
  };
}
