/** The limits of an open demo, which keep it small, and the time of its reset. */
import { DAY_MS, HOUR_MS } from "../core/clock.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** The limits of a demo. */
export const DEMO_LIMITS = {
  segmentBytes: 4 * MIB,
  /** The oldest whole segments are removed beyond either bound. */
  audit: { events: 110_000, bytes: 128 * MIB },
  policyVersions: 100,
  runtimes: 1_000,
  bodyBytes: 64 * KIB,
  /** For each address on the public surface. */
  writesPerMinute: 120,
} as const;

/** The hour, in UTC, at which a demo is reset: night in Europe, evening in America. */
const RESET_HOUR = 4;

/** The next reset of a demo that was seeded at a moment; both in milliseconds. */
export function nextReset(seededAt: number): number {
  const today = seededAt - (seededAt % DAY_MS) + RESET_HOUR * HOUR_MS;
  return today > seededAt ? today : today + DAY_MS;
}

/** The settings that a demo limits. */
interface LimitedSettings {
  readonly maxBodyBytes: number;
  readonly auditSegmentBytes: number;
  readonly maxPolicyVersions: number;
  readonly maxRuntimes: number;
}

/** The values of these settings in a demo: the demo's limits, or the deployment's own values if smaller. */
export function demoSettings(given: LimitedSettings): LimitedSettings {
  return {
    maxBodyBytes: Math.min(given.maxBodyBytes, DEMO_LIMITS.bodyBytes),
    auditSegmentBytes: Math.min(given.auditSegmentBytes, DEMO_LIMITS.segmentBytes),
    maxPolicyVersions: Math.min(given.maxPolicyVersions, DEMO_LIMITS.policyVersions),
    maxRuntimes: Math.min(given.maxRuntimes, DEMO_LIMITS.runtimes),
  };
}
