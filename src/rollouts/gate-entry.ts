import type { ActivityEntry } from "../activity/schema.ts";
import type { IdSource } from "../core/ids.ts";
import type { Rollout } from "./schema.ts";
import { GATE } from "./state.ts";
import { factsOf, type Taken } from "./steps.ts";

/** The action of the end of an open rollout by the activation of a version. */
export function endingAction({ version }: Rollout, active: string): string {
  return active === version ? "rollout.complete" : "rollout.supersede";
}

/**
 * The activity entry of a step that no person took.
 *
 * @param timestamp RFC 3339
 */
export function gateEntry(
  ids: IdSource,
  organization: string,
  action: string,
  timestamp: string,
  { before, after }: Taken,
): ActivityEntry {
  return {
    ...{ id: ids(), organization_id: organization, timestamp, actor: { kind: GATE } },
    ...{ request_id: ids(), surface: "service", action },
    target: { type: "rollout", id: after.id, name: after.version },
    ...{ before: factsOf(before), after: factsOf(after), outcome: "done" },
  };
}
