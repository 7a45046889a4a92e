import type { ActivityEntry } from "../activity/schema.ts";
import type { IdSource } from "../core/ids.ts";
import { formatTimestamp } from "../core/time.ts";
import type { LogName } from "../proof/log-name.ts";

/** A log that is not the one that was signed. */
export interface ContradictedLog {
  readonly organization: string;
  readonly tree: LogName;
  readonly reason: string;
}

/** The activity entry about a log that contradicts its checkpoint. */
export function contradictionEntry(
  { organization, tree, reason }: ContradictedLog,
  ids: IdSource,
  now: number,
): ActivityEntry {
  return {
    ...{ id: ids(), organization_id: organization, timestamp: formatTimestamp(now) },
    ...{ actor: { kind: "service" }, request_id: ids(), surface: "service" },
    ...{ action: "log.contradicted", target: { type: "log", id: tree } },
    ...{ after: { reason }, outcome: "failed" },
  };
}
