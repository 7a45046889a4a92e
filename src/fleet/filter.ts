import { isDrifted } from "./drift.ts";
import type { Heartbeat, RuntimeStatus } from "./schema.ts";
import { statusAfter } from "./status.ts";
import type { Fits } from "./store.ts";

/** Which runtimes are looked for; what is absent leaves none out. */
export interface FleetFilter {
  /** A part of the name, host, system, version or policy version, in any letter case. */
  readonly q?: string | undefined;
  readonly status?: RuntimeStatus | undefined;
  readonly policy_version?: string | undefined;
  /** `true` for those that drifted, `false` for the others. */
  readonly drifted?: "true" | "false" | undefined;
}

/**
 * Makes the test of a filter at a moment (milliseconds); `undefined` where all runtimes fit.
 *
 * @param active the active policy version; empty when there is none
 */
export function fitting(filter: FleetFilter, active: string, now: number): Fits | undefined {
  const { status, policy_version: version, drifted } = filter;
  const words = filter.q?.toLowerCase();
  const tests: Fits[] = [];
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
