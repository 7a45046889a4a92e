/** The filters of lists, exports, streams and histograms of events: one definition for all. */
import { readMoment } from "../core/moment.ts";
import type { Schema } from "../core/schema.ts";
import { consumers } from "./schema.ts";
import type { AuditFilter } from "./store.ts";

/** The filters as query parameters. `decision` and `consumer` accept any value: unknown ones match nothing. */
export const filterQuery = {
  q: {
    type: "string",
    description:
      "Text that the command, executor, resource, provider or capability must contain, in any letter case.",
  },
  decision: {
    type: "string",
    enum: ["ALLOWED", "DENIED", "allowed", "denied"],
    forgiving: true,
    description: "Only events with this decision; an unknown one matches nothing.",
  },
  provider: { type: "string", description: "Only events of exactly this provider." },
  consumer: {
    type: "string",
    enum: consumers,
    forgiving: true,
    description: "Only events of this kind of caller; an unknown one matches nothing.",
  },
  from: {
    type: "string",
    format: "date-time",
    description: "Only events whose `timestamp` is this moment or later.",
  },
  to: {
    type: "string",
    format: "date-time",
    description: "Only events whose `timestamp` is before this moment.",
  },
  executor: { type: "string", description: "Only events of exactly this executor." },
  capability: { type: "string", description: "Only events of exactly this capability." },
  status: { type: "string", description: "Only events with exactly this status." },
  runtime: { type: "string", description: "Only events whose `runtime_name` is exactly this." },
  trace_id: { type: "string", description: "Only events of exactly this trace." },
  policy: { type: "string", description: "Only events that exactly this policy version decided." },
  reported_by: {
    type: "string",
    description: "Only events that the API key or user with exactly this id reported.",
  },
} as const satisfies Readonly<Record<string, Schema & { readonly forgiving?: true }>>;

/** Filters as the client sent them. */
export type GivenFilter = { readonly [K in keyof typeof filterQuery]?: string | undefined };

/**
 * Reads filters.
 *
 * @throws BadInput for a `from` or `to` that is not an RFC 3339 timestamp
 */
export function filterOf(given: GivenFilter): AuditFilter {
  const { q, provider, executor, capability, status, runtime, trace_id, policy, reported_by } =
    given;
  return {
    q,
    decision: given.decision?.toUpperCase(),
    provider,
    consumer: given.consumer?.toLowerCase(),
    from: readMoment("from", given.from),
    to: readMoment("to", given.to),
    executor,
    capability,
    status,
    runtime,
    trace_id,
    policy,
    reported_by,
  };
}
