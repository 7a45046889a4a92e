/** Reads events that were sent before. */
import type { Database } from "../database.ts";

/** A row of the answer of `audit_append_1`. */
export interface Answer {
  readonly organization_id: string;
  /** The newest row of the organization, or the row of the event that was sent before. */
  readonly seq: number;
  readonly bytes: number | null;
  readonly place: number | null;
  readonly day: string | null;
}

/** An event that was sent before. */
export type Known = Answer & { readonly place: number; readonly day: string };

/** Tells an event that was sent before from the newest row of an organization. */
export function isKnown(row: Answer): row is Known {
  return row.place !== null;
}

/** The bytes of events, by place. */
export async function sizesOfKnown(
  database: Database,
  known: readonly Known[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await read<{ bytes: number }>(database, known, "bytes");
  return new Map(rows.map(([place, { bytes }]) => [place, bytes]));
}

/** The lines of events, by place. */
export async function linesOfKnown(
  database: Database,
  known: readonly Known[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await read<{ line: string }>(database, known, "line");
  return new Map(rows.map(([place, { line }]) => [place, line]));
}

/** A query of its own: in the function that stores events it would open the partitions of all days each time. */
async function read<Row extends object>(
  database: Database,
  known: readonly Known[],
  column: "bytes" | "line",
): Promise<readonly (readonly [place: number, row: Row])[]> {
  const found: [number, Row][] = [];
  for (const organization of new Set(known.map((row) => row.organization_id))) {
    const own = known.filter((row) => row.organization_id === organization);
    const rows = await database.query<Row & { seq: number }>(
      `SELECT seq, ${column} FROM audit_events
        WHERE organization_id = $1 AND day = ANY ($2) AND seq = ANY ($3)`,
      [organization, [...new Set(own.map(({ day }) => day))], own.map(({ seq }) => seq)],
    );
    const bySeq = new Map(rows.map((row) => [row.seq, row]));
    for (const { seq, place } of own) {
      const row = bySeq.get(seq);
      if (row !== undefined) found.push([place, row]);
    }
  }
  return found;
}
