import type { AuditEvent } from "../../src/audit/schema.ts";
import type { AuditActivity, AuditFilter, AuditHistogram } from "../../src/audit/store.ts";
import type { ProviderActivity } from "../../src/audit/store.ts";
import { DAY_MS } from "../../src/core/clock.ts";

/** The events of a list (in the order of ingest) that match, newest first: the rule, word by word. */
export function matchesOf(events: readonly AuditEvent[], filter: AuditFilter): AuditEvent[] {
  return events
    .map((event, order) => ({ event, order }))
    .sort((a, b) => timeOf(b.event) - timeOf(a.event) || b.order - a.order)
    .map(({ event }) => event)
    .filter((event) => matches(event, filter));
}

/** Whether an event matches, field by field. */
export function matches(event: AuditEvent, filter: AuditFilter): boolean {
  const { q, decision, provider, consumer, from, to } = filter;
  const { executor, capability, status, runtime, trace_id, policy } = filter;
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
    (from === undefined || timeOf(event) >= from) &&
    (to === undefined || timeOf(event) < to) &&
    (q === undefined || holds(event, q))
  );
}

/** What matches, counted into buckets one by one. */
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

function holds(event: AuditEvent, q: string): boolean {
  const { command, executor, resource, provider, capability } = event;
  return [command, executor, resource, provider, capability].some((text) =>
    text?.toLowerCase().includes(q.toLowerCase()),
  );
}

/** What happened in the 24 hours up to `now`, counted one by one. */
export function activityOf(events: readonly AuditEvent[], now: number): AuditActivity {
  const recent = events.filter((event) => timeOf(event) > now - DAY_MS && timeOf(event) <= now);
  const names = new Set(events.flatMap(({ provider }) => provider ?? []));
  return {
    commands: recent.length,
    allowed: recent.filter((event) => event.policy_decision === "ALLOWED").length,
    denied: recent.filter((event) => event.policy_decision === "DENIED").length,
    ai: recent.filter((event) => event.ai).length,
    providers: new Map([...names].map((name) => [name, activityOfProvider(events, recent, name)])),
  };
}

function activityOfProvider(
  events: readonly AuditEvent[],
  recent: readonly AuditEvent[],
  name: string,
): ProviderActivity {
  const own = recent.filter(({ provider }) => provider === name);
  const failed = own.filter(
    (event) => event.policy_decision === "DENIED" || /^(?:error|failed)$/i.test(event.status),
  );
  const times = events.filter(({ provider }) => provider === name).map(timeOf);
  return { events: own.length, failed: failed.length, lastUsed: Math.max(...times) };
}

function timeOf(event: AuditEvent): number {
  return Date.parse(event.timestamp);
}
