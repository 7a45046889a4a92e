/**
 * The records of the fleet's files. A line of the log, like a row of the snapshot, has the changes of one report.
 * Applying all lines in order, to any earlier state, gives the same fleet. So a snapshot may be written while
 * reports arrive, and a log may be applied again to a later snapshot.
 */
import { sameLabels, storedLabels } from "../../core/labels.ts";
import { jsonOrUndefined } from "../../core/json/json.ts";
import { parseTimestamp, formatTimestamp } from "../../core/time.ts";
import { isObject } from "../../core/validate.ts";
import type { Heartbeat } from "../../fleet/schema.ts";
import type { StoredRuntime } from "../../fleet/store.ts";
import type { Entry, FleetIndex } from "./fleet-index.ts";
import { REPORTED } from "./label-room.ts";

/** The beginning of every record of an organization, up to the runtime's name. */
export function recordPrefix(organization: string): string {
  return `{"organization_id":${JSON.stringify(organization)},"name":`;
}

/** Writes a report. Fields with the same value in `known` are left out, which halves the log. */
export function recordOf(
  prefix: string,
  report: Heartbeat | StoredRuntime,
  lastSeen: number,
  known?: Entry,
): string {
  let text = prefix + JSON.stringify(report.name);
  for (const field of REPORTED) {
    const given = report[field];
    if (given !== undefined && given !== known?.[field]) {
      text += `,"${field}":${JSON.stringify(given)}`;
    }
  }
  if (report.labels !== undefined && !sameLabels(report.labels, known?.labels)) {
    text += `,"labels":${JSON.stringify(report.labels)}`;
  }
  return `${text},"last_seen":"${formatTimestamp(lastSeen)}"}`;
}

/** Writes the removal of a runtime. */
export function removalOf(prefix: string, name: string): string {
  return `${prefix}${JSON.stringify(name)},"deleted":true}`;
}

/** Applies a line of a log; like `replay`. */
export function replayLine(
  index: FleetIndex,
  organization: string,
  line: Buffer,
): number | undefined {
  return replay(index, organization, jsonOrUndefined(line.toString("utf8")));
}

/** Applies a parsed record. Returns its `last_seen`, or `undefined` if it is not a record of the organization. */
export function replay(
  index: FleetIndex,
  organization: string,
  record: unknown,
): number | undefined {
  if (!isObject(record) || record["organization_id"] !== organization) return undefined;
  if (typeof record["name"] !== "string") return undefined;
  if (record["deleted"] === true) {
    index.remove(record["name"]);
    return 0;
  }
  const lastSeen = parseTimestamp(String(record["last_seen"]));
  if (lastSeen === undefined) return undefined;
  index.apply(
    {
      name: record["name"],
      hostname: textOf(record["hostname"]),
      os: textOf(record["os"]),
      version: textOf(record["version"]),
      policy_version: textOf(record["policy_version"]),
      labels: storedLabels(record["labels"]),
    },
    lastSeen,
  );
  return lastSeen;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
