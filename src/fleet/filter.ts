import { isDrifted } from "./drift.ts";
import type { Heartbeat, RuntimeStatus } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { FleetQuery } from "./store.ts";

/** Whether a runtime matches; `lastSeen` in milliseconds. */
export type Fits = (runtime: Heartbeat, lastSeen: number) => boolean;

/** The filters of the fleet; an absent filter matches all runtimes. */
export interface FleetFilter {
  /** A part of the name, host, system, version or policy version, in any letter case. */
  readonly q?: string | undefined;
  readonly name?: string | undefined;
  readonly status?: RuntimeStatus | undefined;
  readonly policy_version?: string | undefined;
  /** `true` for runtimes that drifted, `false` for the others. */
  readonly drifted?: "true" | "false" | undefined;
}

/** Makes the predicate of a query; `undefined` if all runtimes match. */
export function fitting(query: FleetQuery): Fits | undefined {
  const { name: wantedName, status, policy_version: version, drifted, active, now } = query;
  const words = query.q?.toLowerCase();
  const tests: Fits[] = [];
  if (wantedName) tests.push(({ name }) => name === wantedName);
  if (status) tests.push((_, lastSeen) => statusAfter(now - lastSeen) === status);
  if (version) tests.push(({ policy_version: reported }) => reported === version);
  if (drifted) {
    const wanted = drifted === "true";
    tests.push(({ policy_version }, lastSeen) => {
      const runtime = { status: statusAfter(now - lastSeen), policy_version };
      return isDrifted(runtime, active) === wanted;
    });
  }
  if (words) tests.push((runtime) => isNamed(runtime, words));
  if (tests.length <= 1) return tests[0];
  return (runtime, lastSeen) => tests.every((test) => test(runtime, lastSeen));
}

function isNamed({ name, hostname, os, version, policy_version }: Heartbeat, words: string) {
  return (
    holds(name, words) ||
    holds(hostname, words) ||
    holds(os, words) ||
    holds(version, words) ||
    holds(policy_version, words)
  );
}

function holds(text: string | undefined, words: string): boolean {
  return text !== undefined && text.toLowerCase().includes(words);
}
