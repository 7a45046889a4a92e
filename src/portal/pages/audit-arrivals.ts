import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditSlice } from "./audit-source.ts";

/**
 * A list with the events that arrived since it was read, in the list's own order: newest `timestamp`
 * first, and of equal ones the last that arrived. What belongs below the last event that is shown
 * is counted only: reading on brings it.
 *
 * @param arrived in the order of ingest; those that the list has already change nothing
 */
export function withArrivals(list: AuditSlice, arrived: readonly AuditEvent[]): AuditSlice {
  const known = new Set(list.events.map(({ id }) => id));
  const fresh: AuditEvent[] = [];
  for (const event of arrived) {
    if (known.has(event.id)) continue;
    known.add(event.id);
    fresh.unshift(event);
  }
  const oldest = list.next_cursor === undefined ? undefined : list.events.at(-1)?.timestamp;
  const shown = fresh.filter(({ timestamp }) => oldest === undefined || timestamp >= oldest);
  // Sorting keeps the order of what is equal, and timestamps are all written alike.
  const events = [...shown, ...list.events].sort((a, b) =>
    a.timestamp === b.timestamp ? 0 : a.timestamp > b.timestamp ? -1 : 1,
  );
  return { ...list, events, total: list.total + fresh.length };
}

/** A list with its next page. */
export function withOlder(list: AuditSlice, older: AuditSlice): AuditSlice {
  const known = new Set(list.events.map(({ id }) => id));
  const fresh = older.events.filter(({ id }) => !known.has(id));
  return { ...older, events: [...list.events, ...fresh] };
}
