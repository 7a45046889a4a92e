import type { Assignments } from "../core/assignment.ts";
import type { Searcher } from "../core/scheduling/fair-share.ts";
import type { FleetSummary } from "./schema.ts";
import type { FleetCounts, FleetStore, PolicyCount } from "./store.ts";

/** The most policy versions in a summary: those that most runtimes report. */
const MOST_VERSIONS = 1_000;

export interface SummaryNeeds {
  readonly fleet: Pick<FleetStore, "counts" | "policies">;
  readonly assignments: Pick<Assignments, "expected">;
}

/** Counts an organization's runtimes at a moment (milliseconds). */
export async function readSummary(
  { fleet, assignments }: SummaryNeeds,
  organization: string,
  now: number,
  searcher?: Searcher,
): Promise<FleetSummary> {
  const expected = await assignments.expected(organization);
  const counts = await fleet.counts(organization, now, expected, searcher);
  const versions = await fleet.policies(organization, now, MOST_VERSIONS, searcher);
  return summaryOf(counts, versions, expected.active);
}

function summaryOf(
  { online, idle, drifted, total }: FleetCounts,
  versions: readonly PolicyCount[],
  active: string,
): FleetSummary {
  return {
    ...{ online, idle, offline: total - online - idle, drifted, total },
    policy_version: active,
    policy_versions: versions.toSorted(
      (a, b) => b.runtimes - a.runtimes || (a.version < b.version ? -1 : 1),
    ),
  };
}
