import type { AuditEvent } from "../../audit/schema.ts";
import { rowId } from "./audit-rows.ts";
import type { AuditSlice } from "./audit-source.ts";

/**
 * A list with the events that arrived since it was read, in the list's own order: newest `timestamp`
 * first, and of equal ones the last that arrived. What belongs below the last event that is shown
 * is counted only: reading on brings it.
 *
 * @param arrived in the order of ingest; those that the list has already change nothing
 */
export function withArrivals(list: AuditSlice, arrived: readonly AuditEvent[]): AuditSlice {
  const known = new Set(list.events.map(rowId));
  const fresh: AuditEvent[] = [];
  for (const event of arrived) {
    const id = rowId(event);
    if (known.has(id)) continue;
    known.add(id);
    fresh.unshift(event);
  }
  const oldest = oldestShown(list);
  const shown = fresh.filter(({ timestamp }) => timestamp >= oldest);
  // Sorting keeps the order of what is equal, and timestamps are all written alike.
  const events = [...shown, ...list.events].sort((a, b) =>
    a.timestamp === b.timestamp ? 0 : a.timestamp > b.timestamp ? -1 : 1,
  );
  return { ...list, events, total: list.total + fresh.length };
}

/**
 * What arrived while a list was being read and belongs into it, but is not there: it was stored after
 * the list was made. What belongs below the last event that is shown may have been counted.
 */
export function missedBy(list: AuditSlice, arrived: readonly AuditEvent[]): readonly AuditEvent[] {
  const known = new Set(list.events.map(rowId));
  const oldest = oldestShown(list);
  return arrived.filter((event) => !known.has(rowId(event)) && event.timestamp >= oldest);
}

/** A list with its next page. */
export function withOlder(list: AuditSlice, older: AuditSlice): AuditSlice {
  const known = new Set(list.events.map(rowId));
  const fresh = older.events.filter((event) => !known.has(rowId(event)));
  return { ...older, events: [...list.events, ...fresh] };
}

/** The `timestamp` that what is shown of a list ends at; before all others when that is all of it. */
function oldestShown({ events, next_cursor: next }: AuditSlice): string {
  return next === undefined ? "" : (events.at(-1)?.timestamp ?? "");
}
