import type { AuditFilter } from "../../../audit/store.ts";
import type { Statements } from "../database.ts";
import { Values } from "../values.ts";
import { conditionsOf } from "./conditions.ts";

/** The most rows of a portion, and the most text of a portion with several rows. */
interface PortionSize {
  readonly rows: number;
  readonly bytes: number;
}
const PORTION: PortionSize = { rows: 4_000, bytes: 2 << 20 };

/** A stored event: its row number and its line. */
export interface EventLine {
  readonly row: number;
  readonly line: string;
}

/** Reads the next matching events of an organization after a row and up to another one, in the order of ingest. */
export function readPortion(
  query: Statements["query"],
  organization: string,
  days: readonly string[],
  after: number,
  upTo: number,
  filter: AuditFilter = {},
  size = PORTION,
): Promise<readonly EventLine[]> {
  const values = new Values(organization, days, after, upTo);
  return query<EventLine>(
    `SELECT row, line FROM (
       SELECT seq AS row, line, sum(bytes) OVER (ORDER BY seq) AS bytes, row_number() OVER (ORDER BY seq) AS place
         FROM (SELECT seq, bytes, line FROM audit_events
                WHERE organization_id = $1 AND day = ANY ($2) AND seq > $3 AND seq <= $4${conditionsOf(filter, values)}
                ORDER BY seq LIMIT ${size.rows}) AS next) AS portion
      WHERE place = 1 OR bytes <= ${size.bytes} ORDER BY row`,
    values.all,
  );
}
