import type { AuditEvent } from "../../audit/schema.ts";
import { rowId } from "./audit-rows.ts";
import type { AuditSlice } from "./audit-source.ts";

/**
 * Adds arrived events to a list in its order: newest `timestamp` first, and of equal ones the last that
 * arrived. Events that belong below the last event shown are only counted: the next page brings them.
 *
 * @param arrived in the order of ingest; events that the list has already are ignored
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
  // The sort is stable, and all timestamps have the same format.
  const events = [...shown, ...list.events].sort((a, b) =>
    a.timestamp === b.timestamp ? 0 : a.timestamp > b.timestamp ? -1 : 1,
  );
  return { ...list, events, total: list.total + fresh.length };
}

/**
 * The events that arrived while a list was being read and are missing in it, because they were stored
 * after the list was made. Leaves out events below the last one shown, which may have been counted.
 */
export function missedBy(list: AuditSlice, arrived: readonly AuditEvent[]): readonly AuditEvent[] {
  const known = new Set(list.events.map(rowId));
  const oldest = oldestShown(list);
  return arrived.filter((event) => !known.has(rowId(event)) && event.timestamp >= oldest);
}

/** Appends the next page to a list. */
export function withOlder(list: AuditSlice, older: AuditSlice): AuditSlice {
  const known = new Set(list.events.map(rowId));
  const fresh = older.events.filter((event) => !known.has(rowId(event)));
  return { ...older, events: [...list.events, ...fresh] };
}

/** The `timestamp` of the last event shown; the empty text, which sorts first, for a complete list. */
function oldestShown({ events, next_cursor: next }: AuditSlice): string {
  return next === undefined ? "" : (events.at(-1)?.timestamp ?? "");
}
