/**
 * Tells whether a row number still belongs to the same event. After a fail-over to a standby that lacked the newest rows,
 * their numbers are given to other events, and a stream that continued by number alone would leave out as many.
 */
import { hash } from "node:crypto";
import { MARK_BYTES, type MarkedPlace } from "../../../audit/positions.ts";
import type { Statements } from "../database.ts";

/** The bytes at the beginning of a line that have its id and the time of its ingest, whatever their lengths. */
const BEGINNING = 320;

/** The mark of an event, from its line or the beginning of it. */
export function markOf(line: Buffer): number {
  return hash("sha256", line.subarray(0, BEGINNING), "buffer").readUIntBE(0, MARK_BYTES);
}

/** The days that may have the events from a row on. */
export async function daysFrom(
  query: Statements["query"],
  organization: string,
  row: number,
): Promise<readonly string[]> {
  const days = await query<{ day: string }>(
    `SELECT DISTINCT d.day::text AS day FROM audit_days d
       JOIN audit_heads h ON h.organization_id = d.organization_id AND d.day >= h.first_day
      WHERE d.organization_id = $1 AND d.last_seq >= $2`,
    [organization, row],
  );
  return days.map(({ day }) => day);
}

/**
 * Adds the marks of rows at this moment. A mark is `undefined` if retention has removed the event.
 *
 * @returns `undefined` if the database lacks one of the rows, or has another event than `known` there
 */
export async function stillThere(
  query: Statements["query"],
  organization: string,
  days: readonly string[],
  known: MarkedPlace,
  row = known.row,
): Promise<MarkedPlace | undefined> {
  const found = await query<{ last: number; row: number | null; beginning: string | null }>(
    `SELECT h.last_seq AS last, e.seq AS row, left(e.line, ${BEGINNING}) AS beginning
       FROM audit_heads h
       LEFT JOIN audit_events e ON e.organization_id = h.organization_id
         AND e.day = ANY ($2) AND e.seq = ANY ($3)
      WHERE h.organization_id = $1`,
    [organization, days, [known.row, row]],
  );
  if ((found[0]?.last ?? 0) < Math.max(known.row, row)) return undefined;
  const markAt = (at: number): number | undefined => {
    const beginning = found.find((one) => one.row === at)?.beginning;
    return typeof beginning === "string" ? markOf(Buffer.from(beginning)) : undefined;
  };
  const mark = markAt(known.row);
  if (known.mark !== undefined && mark !== undefined && mark !== known.mark) return undefined;
  return { row, mark: markAt(row) };
}
