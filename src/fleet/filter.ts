import { assignedVersion } from "../core/assigned-version.ts";
import { hasLabels, labelOf } from "../core/labels.ts";
import { containing } from "../core/long-needle.ts";
import { isDrifted } from "./drift.ts";
import type { Heartbeat } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { FleetQuery } from "./store.ts";

/** Whether a runtime matches; `lastSeen` in milliseconds. */
export type Fits = (runtime: Heartbeat, lastSeen: number) => boolean;

/** Makes the predicate of a query; `undefined` if all runtimes match. */
export function fitting(query: FleetQuery): Fits | undefined {
  const { name: wantedName, status, policy_version: version, label, drifted, now } = query;
  const words = query.q?.toLowerCase();
  const tests: Fits[] = [];
  if (wantedName) tests.push(({ name }) => name === wantedName);
  if (status) tests.push((_, lastSeen) => statusAfter(now - lastSeen) === status);
  if (version) tests.push(({ policy_version: reported }) => reported === version);
  for (const wanted of label?.map(labelOf) ?? []) {
    tests.push(({ labels }) => hasLabels(labels, wanted));
  }
  if (drifted) {
    const wanted = drifted === "true";
    tests.push((runtime, lastSeen) => {
      const status = statusAfter(now - lastSeen);
      const { policy_version } = runtime;
      return isDrifted({ status, policy_version }, assignedVersion(query, runtime)) === wanted;
    });
  }
  if (words) {
    const holds = containing(words);
    tests.push((runtime) => namesOf(runtime).some((text) => text && holds(text.toLowerCase())));
  }
  if (tests.length <= 1) return tests[0];
  return (runtime, lastSeen) => tests.every((test) => test(runtime, lastSeen));
}

function namesOf({ name, hostname, os, version, policy_version }: Heartbeat) {
  return [name, hostname, os, version, policy_version];
}
