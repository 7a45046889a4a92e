/**
 * The rule that assigns policy versions to runtimes. While a rollout is open, the runtimes that one of its started
 * stages selects get its version; all others get the active version.
 *
 * A percentage selects by a hash of the rollout's id and the runtime's name. So a runtime never flips between two
 * polls, the runtimes of 5% are among those of 25%, and each rollout begins with other runtimes.
 */
import { hash } from "node:crypto";
import type { Assignee, Expected, OpenRollout } from "./assignment.ts";
import { hasLabels } from "./labels.ts";

/** The number of buckets; a percentage selects 1/100 of them. */
export const BUCKETS = 10_000;

/** The characters that a database may store in another form; all of them count as `?` in the hash. */
const UNSTABLE = /[\0\uD800-\uDFFF\uFDD0-\uFDE1]/gu;

/** The bucket of a runtime in a rollout, from 0 on. */
export function bucketOf(rollout: string, runtime: string): number {
  const stable = runtime.search(UNSTABLE) === -1 ? runtime : runtime.replace(UNSTABLE, "?");
  return parseInt(hash("sha256", `${rollout}\n${stable}`).slice(0, 8), 16) % BUCKETS;
}

/** Whether a started stage of a rollout selects a runtime. */
export function isSelected(rollout: OpenRollout, runtime: Assignee): boolean {
  return firstSelecting(rollout, runtime) !== -1;
}

/** The first stage that selects a runtime, counted from 0; -1 if none does. */
export function firstSelecting({ id, stages }: OpenRollout, { name, labels }: Assignee): number {
  let bucket: number | undefined;
  return stages.findIndex(({ percent = 100, labels: wanted, names }) => {
    if (names && !names.has(name)) return false;
    if (wanted && !hasLabels(labels, wanted)) return false;
    if (percent === 100) return true;
    return (bucket ??= bucketOf(id, name)) < (percent * BUCKETS) / 100;
  });
}

/** The version that a runtime should have; empty if no version is active. */
export function assignedVersion({ active, rollout }: Expected, runtime: Assignee): string {
  return rollout && isSelected(rollout, runtime) ? rollout.version : active;
}
