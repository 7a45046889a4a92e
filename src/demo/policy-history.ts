/** The history of the example policy: two weeks of work, with one mistake and its rollback. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/clock.ts";
import type { POLICY_TEXTS } from "./policy-documents.ts";

/** The name of an example version. */
export type ExampleVersion = keyof typeof POLICY_TEXTS;

/** The activation of a version. */
export interface PolicyChange {
  /** Milliseconds. */
  readonly at: number;
  readonly version: ExampleVersion;
  /** An email. */
  readonly by: string;
  /** The reason for publishing; absent if an earlier version was activated again. */
  readonly description?: string;
}

/** A change relative to now: a number of working days ago, at a time of day in UTC. */
interface ToldChange extends Omit<PolicyChange, "at"> {
  readonly workdaysAgo: number;
  readonly time: readonly [hours: number, minutes: number];
}

const ADA = "ada.moreau@example.com";
const LIAM = "liam.oconnor@example.com";
const EMMA = "emma.larsen@example.com";

const CHANGES: readonly ToldChange[] = [
  {
    ...{ workdaysAgo: 10, time: [8, 12], version: "v1", by: ADA },
    description: "First policy: everybody reads, staging is open, production is closed",
  },
  {
    ...{ workdaysAgo: 9, time: [13, 40], version: "v2", by: LIAM },
    description: "Pipelines deploy to production; who is on call may repair it",
  },
  {
    ...{ workdaysAgo: 7, time: [10, 5], version: "v3", by: EMMA },
    description: "Agents read and plan, people apply and merge",
  },
  {
    ...{ workdaysAgo: 5, time: [15, 32], version: "v4", by: LIAM },
    description: "After the staging outage: nobody deletes data or infrastructure by hand",
  },
  {
    ...{ workdaysAgo: 3, time: [8, 50], version: "v5", by: EMMA },
    description: "Secrets are not read through a command line",
  },
  // v5 prevented the pipelines from reading files that they need to deploy.
  { workdaysAgo: 3, time: [11, 25], version: "v4", by: LIAM },
  {
    ...{ workdaysAgo: 3, time: [13, 8], version: "v6", by: EMMA },
    description: "Secrets again: pipelines read theirs; no shells in production",
  },
  {
    ...{ workdaysAgo: 1, time: [9, 44], version: "v7", by: ADA },
    description: "Agents may restart services in staging, so that incidents are tried out there",
  },
];

/** The changes up to a moment (milliseconds), oldest first; the first is two weeks back. */
export function policyHistory(now: number): readonly PolicyChange[] {
  return CHANGES.map(({ workdaysAgo, time: [hours, minutes], ...change }) => ({
    ...change,
    at: startOfWorkday(now, workdaysAgo) + hours * HOUR_MS + minutes * MINUTE_MS,
  }));
}

/** Whether a moment is on a Saturday or Sunday in UTC. */
export function isWeekend(ms: number): boolean {
  const day = Math.floor(ms / DAY_MS) % 7; // the epoch began on a Thursday
  return day === 2 || day === 3;
}

/** Midnight (UTC) of the working day that lies this many working days before today. */
function startOfWorkday(now: number, workdaysAgo: number): number {
  let day = now - (now % DAY_MS);
  for (let left = workdaysAgo; left > 0;) {
    day -= DAY_MS;
    if (!isWeekend(day)) left--;
  }
  return day;
}
