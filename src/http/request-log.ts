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
 * minute has at most 1,000 lines of a kind, and a line of the same level says how many were left out: the summary would
 * not be seen with `LOG_LEVEL=warn`.
 */
export interface RequestLog {
  readonly onAnswered: (summary: RequestSummary) => void;
  /** Logs a summary of the requests since the last summary, if there were any. */
  summarize(): void;
}

/** The lines of a kind that were left out. */
interface LeftOut {
  readonly level: "info" | "error";
  readonly count: number;
}

/** Creates a request log. It never contains queries, bodies or credentials. */
export function createRequestLog(log: Log): RequestLog {
  const counts = { requests: 0, refused: 0, failed: 0 };
  const logsAll = log.enabled("debug");
  const leftOut = new Map<string, LeftOut>();
  const written = new Map<string, number>();
  const write = (level: LeftOut["level"], message: string, fields: LogFields): void => {
    const before = written.get(message) ?? 0;
    if (logsAll || before < LINES_A_MINUTE) {
      written.set(message, before + 1);
      log[level](message, fields);
    } else {
      leftOut.set(message, { level, count: (leftOut.get(message)?.count ?? 0) + 1 });
    }
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
      log.info("requests in the last minute", counts);
      for (const [message, { level, count }] of leftOut) {
        log[level]("lines left out in the last minute", { of: message, lines_left_out: count });
      }
      Object.assign(counts, { requests: 0, refused: 0, failed: 0 });
      written.clear();
      leftOut.clear();
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
