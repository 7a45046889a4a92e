import { describeError, type Log, type LogFields } from "../core/log.ts";
import { Refusal, Unauthenticated } from "../core/errors.ts";
import { CLIENT_GONE } from "./waiting-client.ts";
import type { RequestSummary } from "./request-summary.ts";

/**
 * The most lines of each kind between two summaries: anyone can send credentials that are refused, and a line for each
 * filled a disk by 5 MB a second. The activity log has each change.
 */
export const LINES_A_MINUTE = 1_000;

/**
 * Logs requests: each at `debug`, changes and refused credentials at `info`, and a summary a minute. Without `debug` a
 * minute has at most 1,000 lines of a kind, and its summary says how many were left out.
 */
export interface RequestLog {
  readonly onAnswered: (summary: RequestSummary) => void;
  /** Logs a summary of the requests since the last summary, if there were any. */
  summarize(): void;
}

/** Creates a request log. It never contains queries, bodies or credentials. */
export function createRequestLog(log: Log): RequestLog {
  const counts = { requests: 0, refused: 0, failed: 0 };
  const logsAll = log.enabled("debug");
  const lines = new Map<string, number>();
  const write = (level: "info" | "error", message: string, fields: LogFields): void => {
    const before = lines.get(message) ?? 0;
    lines.set(message, before + 1);
    if (logsAll || before < LINES_A_MINUTE) log[level](message, fields);
  };

  return {
    onAnswered(summary) {
      const { status, error } = summary;
      counts.requests++;
      if (status >= 500) counts.failed++;
      else if (status >= 400) counts.refused++;
      if (error === undefined && !summary.isChange && !logsAll) return;

      const fields = fieldsOf(summary);
      if (error !== undefined && (!(error instanceof Refusal) || error.cause !== undefined)) {
        write("error", "request failed", { ...fields, error: describeError(error) });
      } else if (error instanceof Unauthenticated && error.tokenRefused) {
        write("info", "credentials refused", fields);
      } else if (summary.isChange && (status < 400 || isUnread(summary))) {
        write("info", "changed", fields);
      } else {
        log.debug("request", fields);
      }
    },
    summarize() {
      if (counts.requests === 0) return;
      const leftOut = [...lines.values()].reduce(
        (sum, count) => sum + Math.max(0, count - LINES_A_MINUTE),
        0,
      );
      const unlogged = leftOut > 0 && !logsAll ? { lines_left_out: leftOut } : {};
      log.info("requests in the last minute", { ...counts, ...unlogged });
      Object.assign(counts, { requests: 0, refused: 0, failed: 0 });
      lines.clear();
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
