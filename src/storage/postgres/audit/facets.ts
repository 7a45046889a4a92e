/**
 * Counts events by the values of fields, in one pass over the newest matches. It uses the connections and the time
 * limit of searches.
 */
import {
  FACET_FIELDS,
  LONGEST_LISTED,
  mostFrequent,
  type FacetName,
} from "../../../audit/facets.ts";
import type { AuditEvent } from "../../../audit/schema.ts";
import type { AuditFacets, AuditFilter } from "../../../audit/store.ts";
import type { Searcher } from "../../../core/scheduling/fair-share.ts";
import type { Database } from "../database.ts";
import { fromText } from "../text.ts";
import { Values } from "../values.ts";
import { columnFor, conditionsOf } from "./conditions.ts";
import { daysOf, inDays } from "./days.ts";
import { SEARCH_PARTS } from "./records.ts";

/** The most events that are counted, the newest ones. */
const MOST_COUNTED = 100_000;
const LONGEST_LINE = 64 << 10;

/** The columns of the facets. The column of the reason is in lower case and ends in a separator. */
const COLUMNS = FACET_FIELDS.map(([facet, field]) => {
  const text = facet === "reason" ? `left(${SEARCH_PARTS.reason}, -1)` : columnFor(field);
  // A text of 256 UTF-16 units may take six times as many characters in the form of the database.
  return { facet, text: `CASE WHEN length(${text}) <= ${6 * LONGEST_LISTED} THEN ${text} END` };
});
/** The length of a value in UTF-16 units: its form in the database has five characters for some of them (see `text.ts`). */
const UNITS = String.raw`length(value) - 4 * (length(value) - length(replace(value, U&'\FDE0', '')))
  + length(regexp_replace(value, '[\u0001-\uFFFF]', '', 'g'))`;
const NAMES = COLUMNS.map(({ facet }) => `f_${facet}`);

interface FacetRow {
  readonly facet: FacetName | "";
  readonly value: string;
  readonly events: number;
  /** The newest event with the value. */
  readonly seq: number;
  readonly line: string | null;
}

/** Answers facets; see `AuditStore.facets`. */
export async function facetsOf(
  database: Database,
  organization: string,
  filter: AuditFilter,
  most: number,
  searcher?: Searcher,
): Promise<AuditFacets> {
  const values = new Values(organization);
  const { days } = await daysOf(database, organization, filter);
  const among = inDays(days, filter, values);
  const rows = await database.search<FacetRow>(
    `WITH found AS MATERIALIZED (
       SELECT seq, ${COLUMNS.map(({ text }, i) => `${text} AS ${NAMES[i]}`).join(", ")}
         FROM audit_events
        WHERE organization_id = $1${among}${conditionsOf(filter, values)}
        ORDER BY time_ms DESC, seq DESC LIMIT ${MOST_COUNTED}
     ), sums AS (
       SELECT CASE 0 ${COLUMNS.map(({ facet }, i) => `WHEN grouping(${NAMES[i]}) THEN '${facet}'`).join(" ")} ELSE '' END AS facet,
              coalesce(${NAMES.join(", ")}, '') AS value, count(*) AS events, max(seq) AS seq
         FROM found GROUP BY GROUPING SETS ((), ${NAMES.map((name) => `(${name})`).join(", ")})
     ), ranked AS (
       SELECT *, row_number() OVER (PARTITION BY facet ORDER BY events DESC, value) AS place
         FROM sums WHERE facet = '' OR (value <> '' AND ${UNITS} <= ${LONGEST_LISTED}))
     SELECT facet, value, events, ranked.seq,
            (SELECT line FROM audit_events e
              WHERE facet = 'reason' AND e.organization_id = $1 AND e.seq = ranked.seq${among}
                AND e.bytes <= ${LONGEST_LINE}) AS line
       FROM ranked WHERE place <= ${values.add(most)}`,
    values.all,
    searcher,
  );
  const counted = rows.find(({ facet }) => facet === "")?.events ?? 0;
  const found = FACET_FIELDS.map(([facet]) => {
    const own = rows.filter((row) => row.facet === facet);
    const counts = own.map((row) => [valueOf(row), row.events] as const);
    return [facet, mostFrequent(counts, most)] as const;
  });
  return { counted, isComplete: counted < MOST_COUNTED, values: new Map(found) };
}

/** The value as it was reported. */
function valueOf({ value, line }: FacetRow): string {
  const { reason } = line === null ? {} : (JSON.parse(line) as Partial<AuditEvent>);
  return reason ?? fromText(value);
}
