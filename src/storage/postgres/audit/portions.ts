import type { AuditFilter } from "../../../audit/store.ts";
import type { Statements } from "../database.ts";
import { Values } from "../values.ts";
import { conditionsOf } from "./conditions.ts";

/** The most rows of a portion, and the most text of a portion with several rows. */
export interface PortionSize {
  readonly rows: number;
  readonly bytes: number;
}
const PORTION: PortionSize = { rows: 4_000, bytes: 2 << 20 };

/** A stored event: its row number and its line. */
export interface EventLine {
  readonly row: number;
  readonly line: string;
}

/** The rows to read: the matching events of an organization after a row and up to another one. */
export interface PortionRange {
  readonly organization: string;
  readonly days: readonly string[];
  readonly after: number;
  readonly upTo: number;
  readonly filter?: AuditFilter;
}

/** Reads the next events of a range in the order of ingest. */
export function readPortion(
  query: Statements["query"],
  range: PortionRange,
): Promise<readonly EventLine[]> {
  return query<EventLine>(...portionOf(range, PORTION, "line"));
}

/**
 * Reads the next events of a range in the order of ingest, and leaves out the line of an event that is longer than a
 * portion: that is the only one of its portion.
 */
export function readShortPortion(
  query: Statements["query"],
  range: PortionRange,
  size: PortionSize,
): Promise<readonly (Omit<EventLine, "line"> & { readonly line: string | null })[]> {
  return query(...portionOf(range, size, `CASE WHEN bytes <= ${size.bytes} THEN line END`));
}

/** Reads the line of an event; `undefined` if retention has removed it. */
export async function readLine(
  query: Statements["query"],
  organization: string,
  days: readonly string[],
  row: number,
): Promise<string | undefined> {
  const [found] = await query<{ line: string }>(
    "SELECT line FROM audit_events WHERE organization_id = $1 AND day = ANY ($2) AND seq = $3",
    [organization, days, row],
  );
  return found?.line;
}

/** The statement that reads a portion. The bytes of the first row of `portion` are its own. */
function portionOf(
  { organization, days, after, upTo, filter = {} }: PortionRange,
  size: PortionSize,
  line: string,
): readonly [text: string, values: readonly unknown[]] {
  const values = new Values(organization, days, after, upTo);
  const text = `SELECT row, ${line} AS line FROM (
       SELECT seq AS row, line, sum(bytes) OVER (ORDER BY seq) AS bytes, row_number() OVER (ORDER BY seq) AS place
         FROM (SELECT seq, bytes, line FROM audit_events
                WHERE organization_id = $1 AND day = ANY ($2) AND seq > $3 AND seq <= $4${conditionsOf(filter, values)}
                ORDER BY seq LIMIT ${size.rows}) AS next) AS portion
      WHERE place = 1 OR bytes <= ${size.bytes} ORDER BY row`;
  return [text, values.all];
}
