import type { AuditEvent } from "../../../../audit/schema.ts";
import type { AuditFilter } from "../../../../audit/store.ts";
import { timeOf } from "../index/canonical-time.ts";

/** Whether an event matches a filter: the rule in plain words, for events one by one. */
export function matchesEvent(event: AuditEvent, filter: AuditFilter): boolean {
  const is = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || value === wanted;
  if (
    !is(filter.decision, event.policy_decision) ||
    !is(filter.provider, event.provider) ||
    !is(filter.consumer, event.consumer) ||
    !is(filter.executor, event.executor) ||
    !is(filter.capability, event.capability) ||
    !is(filter.status, event.status) ||
    !is(filter.runtime, event.runtime_name) ||
    !is(filter.trace_id, event.trace_id) ||
    !is(filter.policy, event.policy) ||
    !is(filter.reported_by, event.reported_by)
  ) {
    return false;
  }
  const { q, from = -Infinity, to = Infinity } = filter;
  const time = timeOf(event.timestamp);
  return (
    time >= from && time < to && (q === undefined || q === "" || holds(event, q.toLowerCase()))
  );
}

function holds(event: AuditEvent, lower: string): boolean {
  const { command, executor, resource, provider, capability } = event;
  return [command, executor, resource, provider, capability].some((text) =>
    text?.toLowerCase().includes(lower),
  );
}
