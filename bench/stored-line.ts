import { isoOf } from "./iso.ts";
import type { Arrival } from "./generator.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const SUFFIX = "history00000";

/**
 * The line that the service would have stored for an arrival, without its line end. It is put
 * together by hand, since the rules of ingest take three times as long; a test compares the two. Of
 * the generated texts only commands need escaping.
 */
export function storedLine({ at, report }: Arrival, index: number): string {
  const { reason, status, message } = report;
  const isDenied = report.policy_decision === "DENIED";
  return (
    `{"id":"${idOf(at, index)}","organization_id":"default","timestamp":"${report.timestamp}",` +
    `"ingested_at":"${isoOf(at)}","command":${JSON.stringify(report.command)},` +
    `"executor":"${report.executor}","consumer":"${report.consumer}",` +
    `"ai":${report.consumer === "ai"},"provider":"${report.provider}",` +
    `"capability":"${report.capability}","resource":"${report.resource}",` +
    `"policy_decision":"${report.policy_decision}","policy":"${report.policy}",` +
    (reason === undefined ? "" : `"reason":"${reason}",`) +
    `"status":"${status ?? (isDenied ? "denied" : "allowed")}",` +
    (message === undefined ? "" : `"message":"${message}",`) +
    `"duration_ms":${report.duration_ms},"runtime_name":"${report.runtime_name}",` +
    `"runtime_version":"${report.runtime_version}",` +
    `"runtime_context":"${report.runtime_context}","trace_id":"${report.trace_id}",` +
    `"transport":"${report.transport}"}`
  );
}

/** An id in the form of the service's own: it sorts by time, here with the number of the event. */
export function idOf(at: number, index: number): string {
  return digits(at, 10) + digits(index % 32 ** 4, 4) + SUFFIX;
}

function digits(value: number, width: number): string {
  let text = "";
  for (let rest = value; text.length < width; rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text;
  }
  return text;
}
