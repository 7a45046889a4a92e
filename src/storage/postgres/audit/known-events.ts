/** Reads known events: events whose ids were sent before. */
import type { Database } from "../database.ts";
import { toText } from "../text.ts";
import type { Answer } from "./append.ts";
import type { EventLine } from "./portions.ts";
import type { NewEvent } from "./records.ts";

/** A known event; `place` is its index in the sent group. */
export type Known = Answer & { readonly place: number; readonly day: string };

/** Whether a row of the answer is a known event; otherwise it is the newest row of an organization. */
export function isKnown(row: Answer): row is Known {
  return row.place !== null;
}

/** The bytes of those of the events that are known, by key. */
export async function sizesOf(
  database: Database,
  events: readonly NewEvent[],
): Promise<ReadonlyMap<string, number>> {
  if (events.length === 0) return new Map();
  const rows = await database.query<{ place: number; bytes: number }>(
    `SELECT DISTINCT ON (place) place, i.bytes
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS sent (organization_id, id, reporter, place)
       JOIN audit_ids i USING (organization_id, id, reporter)
       JOIN audit_heads h ON h.organization_id = i.organization_id AND i.day >= h.first_day
      ORDER BY place, i.seq`,
    [
      events.map(({ organization_id }) => organization_id),
      events.map(({ id }) => id),
      events.map(({ reported_by = "" }) => reported_by),
    ],
  );
  return new Map(
    rows.map(({ place, bytes }) => [(events[place - 1] as NewEvent).key as string, bytes]),
  );
}

/**
 * The lines of known events, by index. This is a separate query: in the function that stores events it would open
 * the partitions of all days each time.
 */
export async function linesOfKnown(
  database: Database,
  known: readonly Known[],
): Promise<ReadonlyMap<number, string>> {
  const lines = new Map<number, string>();
  for (const organization of new Set(known.map((row) => row.organization_id))) {
    const own = known.filter((row) => row.organization_id === organization);
    const rows = await database.query<{ seq: number; line: string }>(
      `SELECT seq, line FROM audit_events
        WHERE organization_id = $1 AND day = ANY ($2) AND seq = ANY ($3)`,
      [organization, [...new Set(own.map(({ day }) => day))], own.map(({ seq }) => seq)],
    );
    const bySeq = new Map(rows.map(({ seq, line }) => [seq, line]));
    for (const { seq, place } of own) {
      const line = bySeq.get(seq);
      if (line !== undefined) lines.set(place, line);
    }
  }
  return lines;
}

/** The events of an organization with an id, the first stored one first. */
export async function eventsWithId(
  database: Database,
  organization: string,
  id: string,
  most: number,
): Promise<readonly EventLine[]> {
  const places = await database.query<{ seq: number; day: string }>(
    `SELECT seq, day FROM (
       SELECT DISTINCT ON (i.reporter) i.seq, i.day::text AS day FROM audit_ids i
         JOIN audit_heads h ON h.organization_id = i.organization_id AND i.day >= h.first_day
        WHERE i.organization_id = $1 AND i.id = $2 ORDER BY i.reporter, i.seq) AS firsts
      ORDER BY seq LIMIT $3`,
    [organization, toText(id), most],
  );
  const found = places.map(({ day, seq }) =>
    database.query<EventLine>(
      "SELECT seq AS row, line FROM audit_events WHERE organization_id = $1 AND day = $2 AND seq = $3",
      [organization, day, seq],
    ),
  );
  return (await Promise.all(found)).flat();
}
