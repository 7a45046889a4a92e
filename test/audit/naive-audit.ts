import { EXCLUDED_FIELDS } from "../../src/audit/event-fields.ts";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { FACET_FIELDS, mostFrequent } from "../../src/audit/facets.ts";
import type {
  AuditActivity,
  AuditFacets,
  AuditFilter,
  AuditHistogram,
} from "../../src/audit/store.ts";
import type { ProviderActivity } from "../../src/audit/store.ts";
import { DAY_MS } from "../../src/core/clock.ts";

/** The events of a list (in the order of ingest) that match, newest first: the rule in its plainest form. */
export function matchesOf(events: readonly AuditEvent[], filter: AuditFilter): AuditEvent[] {
  return events
    .map((event, order) => ({ event, order }))
    .sort((a, b) => timeOf(b.event) - timeOf(a.event) || b.order - a.order)
    .map(({ event }) => event)
    .filter((event) => matches(event, filter));
}

/** Whether an event matches, field by field. */
export function matches(event: AuditEvent, filter: AuditFilter): boolean {
  const { q, reason, decision, provider, consumer, from, to } = filter;
  const { executor, capability, status, runtime, trace_id, policy, reported_by } = filter;
  return (
    (decision === undefined || event.policy_decision === decision) &&
    (provider === undefined || event.provider === provider) &&
    (consumer === undefined || event.consumer === consumer) &&
    (executor === undefined || event.executor === executor) &&
    (capability === undefined || event.capability === capability) &&
    (status === undefined || event.status === status) &&
    (runtime === undefined || event.runtime_name === runtime) &&
    (trace_id === undefined || event.trace_id === trace_id) &&
    (policy === undefined || event.policy === policy) &&
    (reported_by === undefined || event.reported_by === reported_by) &&
    EXCLUDED_FIELDS.every(({ name, filter: parameter }) => {
      const unwanted = filter[`not_${parameter}`];
      return unwanted === undefined || event[name] !== unwanted;
    }) &&
    (filter.wildcards ?? []).every(({ field, text, isExcluded }) => {
      const value = event[field];
      return (value !== undefined && isLike(value, text)) !== isExcluded;
    }) &&
    (from === undefined || timeOf(event) >= from) &&
    (to === undefined || timeOf(event) < to) &&
    (q === undefined || holds(event, q)) &&
    (reason === undefined ||
      reason === "" ||
      event.reason?.toLowerCase().includes(reason.toLowerCase()) === true)
  );
}

/** Whether a text is like another, in which `*` stands for any text and letters A to Z for both cases. */
function isLike(value: string, wanted: string): boolean {
  const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const parts = lower(wanted)
    .split("*")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*")}$`, "u").test(lower(value));
}

/** The matching events, counted into buckets one by one. */
export function histogramOf(
  events: readonly AuditEvent[],
  filter: AuditFilter,
  from: number,
  to: number,
  intervalMs: number,
): AuditHistogram {
  const counts = (decision: string | undefined): number[] =>
    Array.from({ length: Math.ceil((to - from) / intervalMs) }, (_, i) => {
      const start = from + i * intervalMs;
      const end = Math.min(start + intervalMs, to);
      return events.filter(
        (event) =>
          event.policy_decision === decision &&
          timeOf(event) >= start &&
          timeOf(event) < end &&
          matches(event, filter),
      ).length;
    });
  return { allowed: counts("ALLOWED"), denied: counts("DENIED"), other: counts(undefined) };
}

/** The matching events, counted by the values of their fields. */
export function facetsOf(
  events: readonly AuditEvent[],
  filter: AuditFilter,
  most: number,
): AuditFacets {
  const found = events.filter((event) => matches(event, filter));
  const values = FACET_FIELDS.map(([facet, field]) => {
    const counts = new Map<string, readonly [string, number]>();
    for (const event of found) {
      const value = event[field];
      if (typeof value !== "string") continue;
      const key = facet === "reason" ? value.toLowerCase() : value;
      counts.set(key, [value, (counts.get(key)?.[1] ?? 0) + 1]);
    }
    return [facet, mostFrequent(counts.values(), most)] as const;
  });
  return { counted: found.length, isComplete: true, values: new Map(values) };
}

function holds(event: AuditEvent, q: string): boolean {
  const { command, executor, resource, provider, capability } = event;
  return [command, executor, resource, provider, capability].some((text) =>
    text?.toLowerCase().includes(q.toLowerCase()),
  );
}

/** The events of the 24 hours up to `now`, counted one by one. */
export function activityOf(events: readonly AuditEvent[], now: number): AuditActivity {
  const recent = recentOf(events, now);
  const names = new Set(recent.flatMap(({ provider }) => provider ?? []));
  const counted = [...names].sort().map((name) => {
    return [name, recent.filter(({ provider }) => provider === name).length] as const;
  });
  return {
    commands: recent.length,
    allowed: recent.filter((event) => event.policy_decision === "ALLOWED").length,
    denied: recent.filter((event) => event.policy_decision === "DENIED").length,
    wouldBeDenied: recent.filter((event) => event.observed_decision === "DENIED").length,
    ai: recent.filter((event) => event.ai).length,
    byProvider: counted.sort(([, a], [, b]) => b - a),
  };
}

/** The use of providers up to `now`; providers without events are left out. */
export function providerUseOf(
  events: readonly AuditEvent[],
  names: readonly string[],
  now: number,
): ReadonlyMap<string, ProviderActivity> {
  const known = providerNamesOf(events);
  return new Map(
    names.filter((name) => known.has(name)).map((name) => [name, useOf(events, name, now)]),
  );
}

export function providerNamesOf(events: readonly AuditEvent[]): ReadonlySet<string> {
  return new Set(events.flatMap(({ provider }) => provider ?? []));
}

function useOf(events: readonly AuditEvent[], name: string, now: number): ProviderActivity {
  const all = events.filter(({ provider }) => provider === name);
  const own = recentOf(all, now);
  const failed = own.filter(
    (event) => event.policy_decision === "DENIED" || /^(?:error|failed)$/i.test(event.status),
  );
  return {
    events: own.length,
    failed: failed.length,
    lastUsed: Math.max(...all.map(timeOf)),
  };
}

function recentOf(events: readonly AuditEvent[], now: number): readonly AuditEvent[] {
  return events.filter((event) => timeOf(event) > now - DAY_MS && timeOf(event) <= now);
}

function timeOf(event: AuditEvent): number {
  return Date.parse(event.timestamp);
}
