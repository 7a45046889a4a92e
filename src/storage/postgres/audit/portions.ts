import type { Statements } from "../database.ts";

/** The most rows of a portion, and the most text of a portion with several rows. */
export const PORTION_ROWS = 4_000;
const PORTION_BYTES = 2 << 20;

/** A stored event: its row number and its line. */
export interface EventLine {
  readonly row: number;
  readonly line: string;
}

/** Reads the next events of an organization after a row and up to another one, in the order of ingest. */
export function readPortion(
  query: Statements["query"],
  organization: string,
  days: readonly string[],
  after: number,
  upTo: number,
): Promise<readonly EventLine[]> {
  return query<EventLine>(
    `SELECT row, line FROM (
       SELECT seq AS row, line, sum(bytes) OVER (ORDER BY seq) AS bytes, row_number() OVER (ORDER BY seq) AS place
         FROM (SELECT seq, bytes, line FROM audit_events
                WHERE organization_id = $1 AND day = ANY ($2) AND seq > $3 AND seq <= $4
                ORDER BY seq LIMIT ${PORTION_ROWS}) AS next) AS portion
      WHERE place = 1 OR bytes <= ${PORTION_BYTES} ORDER BY row`,
    [organization, days, after, upTo],
  );
}
