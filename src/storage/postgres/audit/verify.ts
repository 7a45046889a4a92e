/** Checks the audit tables: the counters against the events, and each event against its line. */
import type { AuditEvent } from "../../../audit/schema.ts";
import type { OrganizationCheck } from "../database-report.ts";
import { EVENT_COLUMNS, newEventOf, type NewEvent } from "./records.ts";

const PORTION_ROWS = 1_000;
const PORTION_BYTES = 2 << 20;
/** The most differences of one counter and day that are reported. */
const MOST_FOUND = 20;

/** A table with counters: its rows for a day, and the same rows computed from the events. */
interface Counter {
  readonly table: string;
  readonly key: string;
  readonly values: readonly string[];
  readonly counted: string;
  /** If absent, the table's rows are compared as they are. */
  readonly kept?: string;
}

const COUNTERS: readonly Counter[] = [
  {
    table: "audit_days",
    key: "decision, consumer",
    values: ["events", "bytes", "oldest_ms", "newest_ms", "last_seq"],
    counted: `SELECT coalesce(decision, '') AS decision, coalesce(consumer, '') AS consumer,
      count(*) AS events, sum(bytes) AS bytes, min(time_ms) AS oldest_ms, max(time_ms) AS newest_ms,
      max(seq) AS last_seq FROM audit_events WHERE organization_id = $1 AND day = $2 GROUP BY 1, 2`,
  },
  {
    table: "audit_minutes",
    key: "minute_ms, decision, consumer, ai, would_deny",
    values: ["events"],
    counted: `SELECT time_ms - (time_ms % 60000 + 60000) % 60000 AS minute_ms, coalesce(decision, '') AS decision,
      coalesce(consumer, '') AS consumer, ai, coalesce(observed_decision = 'DENIED', false) AS would_deny,
      count(*) AS events
      FROM audit_events WHERE organization_id = $1 AND day = $2 GROUP BY 1, 2, 3, 4, 5`,
  },
  {
    table: "audit_provider_minutes",
    key: "minute_ms",
    values: ["events", "failed", "newest_ms"],
    counted: `SELECT time_ms - (time_ms % 60000 + 60000) % 60000 AS minute_ms, count(*) AS events,
      count(*) FILTER (WHERE decision = 'DENIED' OR lower(status) IN ('failed', 'error')) AS failed,
      max(time_ms) AS newest_ms
      FROM audit_events WHERE organization_id = $1 AND day = $2 AND provider IS NOT NULL
        AND seq <= (SELECT seq FROM audit_counted WHERE organization_id = $1) GROUP BY 1`,
    kept: `SELECT minute_ms, sum(events) AS events, sum(failed) AS failed, max(newest_ms) AS newest_ms
      FROM audit_provider_minutes WHERE organization_id = $1 AND day = $2 GROUP BY 1`,
  },
  {
    table: "audit_hours",
    key: "hour_ms, decision, consumer",
    values: ["events"],
    counted: `SELECT time_ms - (time_ms % 3600000 + 3600000) % 3600000 AS hour_ms, coalesce(decision, '') AS decision,
      coalesce(consumer, '') AS consumer, count(*) AS events FROM audit_events
      WHERE organization_id = $1 AND day = $2
        AND seq <= (SELECT seq FROM audit_counted WHERE organization_id = $1) GROUP BY 1, 2, 3`,
  },
  {
    table: "audit_values",
    key: "field, value, decision, consumer",
    values: ["events"],
    counted: `SELECT f.field, f.value, coalesce(decision, '') AS decision, coalesce(consumer, '') AS consumer,
      count(*) AS events FROM audit_events
      CROSS JOIN LATERAL (VALUES ('provider', provider), ('executor', executor), ('capability', capability),
             ('status', status), ('runtime_name', runtime_name), ('policy', policy),
             ('reported_by', reported_by), ('observed_decision', observed_decision)) AS f (field, value)
      WHERE organization_id = $1 AND day = $2 AND octet_length(f.value) <= 256
        AND seq <= (SELECT seq FROM audit_counted WHERE organization_id = $1) GROUP BY 1, 2, 3, 4`,
  },
];

/** Checks an organization's events, with their ids, their columns and their counters. */
export async function verifyAudit(check: OrganizationCheck): Promise<void> {
  const { database, id, report } = check;
  const [head] = await database.query<Head>(
    `SELECT h.events, h.bytes, h.last_seq AS last, h.first_day::text AS first,
            coalesce(sum(d.events), 0)::bigint AS counted, coalesce(sum(d.bytes), 0)::bigint AS "countedBytes",
            coalesce(array_agg(DISTINCT d.day::text ORDER BY d.day::text) FILTER (WHERE d.day IS NOT NULL), '{}') AS days
       FROM audit_heads h LEFT JOIN audit_days d ON d.organization_id = h.organization_id AND d.day >= h.first_day
      WHERE h.organization_id = $1 GROUP BY h.organization_id`,
    [id],
  );
  if (head === undefined) return verifyNone(check);
  if (head.events !== head.counted || head.bytes !== head.countedBytes) {
    const kept = `${head.counted} events of ${head.countedBytes} bytes`;
    report.problem(
      "audit_heads",
      `"${id}": says ${head.events} events of ${head.bytes} bytes, its days have ${kept}`,
    );
  }
  for (const day of head.days) {
    for (const counter of COUNTERS) await verifyCounter(check, day, counter);
    await verifyEvents(check, day);
  }
  await verifyGaps(check, head);
}

/** Checks that an organization without a head row, which shows no events, has none. */
async function verifyNone({ database, id, report }: OrganizationCheck): Promise<void> {
  const [found] = await database.search(
    "SELECT FROM audit_events WHERE organization_id = $1 LIMIT 1",
    [id],
  );
  if (found) report.problem("audit_heads", `"${id}": has events, and no row here`);
}

interface Head {
  readonly events: number;
  readonly bytes: number;
  readonly last: number;
  readonly first: string;
  readonly counted: number;
  readonly countedBytes: number;
  readonly days: readonly string[];
}

async function verifyCounter(
  { database, id, report }: OrganizationCheck,
  day: string,
  { table, key, values, counted, kept }: Counter,
): Promise<void> {
  const rowsOfDay = `SELECT * FROM ${table} WHERE organization_id = $1 AND day = $2`;
  const row = (of: string): string => `ROW(${values.map((value) => `${of}.${value}::bigint`)})`;
  const rows = await database.search<{ key: string; counted: string; kept: string }>(
    `SELECT ROW(${key})::text AS key, ${row("c")}::text AS counted, ${row("k")}::text AS kept
       FROM (${counted}) AS c FULL JOIN (${kept ?? rowsOfDay}) AS k USING (${key})
      WHERE ${row("c")} IS DISTINCT FROM ${row("k")} LIMIT ${MOST_FOUND}`,
    [id, day],
  );
  for (const found of rows) {
    const problem = `${found.key} of "${id}" on ${day}: has ${found.kept}, the events make ${found.counted}`;
    report.problem(table, `${problem} (${values.join(", ")})`);
  }
}

/** Checks the row numbers, which have no gaps. Removed days leave a gap only at the beginning. */
async function verifyGaps(
  { database, id, report }: OrganizationCheck,
  { last, first, days }: Head,
): Promise<void> {
  const [found] = await database.search<{ least: number; most: number; rows: number }>(
    `SELECT coalesce(min(seq), 1) AS least, coalesce(max(seq), 0) AS most, count(*) AS rows FROM audit_events
      WHERE organization_id = $1 AND day = ANY ($2) AND seq <= $3`,
    [id, days, last],
  );
  if (found === undefined) return;
  const isWhole = first === "-infinity";
  const missing = last - (isWhole ? 0 : found.least - 1) - found.rows;
  if (missing <= 0 || (found.rows === 0 && !isWhole)) return;
  const problem = `"${id}": ${missing} row numbers up to ${last} have no event`;
  if (isWhole) report.problem("audit_events", problem);
  // The clock of a server may have been set back, so that removed days had later rows.
  else report.note("audit_events", problem);
}

/** The columns that are computed from the line. The day is not: an event is never stored in a removed day. */
const COLUMNS = EVENT_COLUMNS.filter((column) => column !== "day" && column !== "line");

interface EventRow {
  readonly seq: number;
  readonly line: string;
  readonly bytes: number;
  readonly [column: string]: unknown;
}

async function verifyEvents(check: OrganizationCheck, day: string): Promise<void> {
  const { database, id, report } = check;
  for (let last = 0; ;) {
    const rows = await database.search<EventRow>(
      `SELECT seq, line, bytes, ${COLUMNS.join(", ")} FROM (
         SELECT *, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM (
           SELECT * FROM audit_events WHERE organization_id = $1 AND day = $2 AND seq > $3
            ORDER BY seq LIMIT ${PORTION_ROWS}) AS next) AS portion
        WHERE before < ${PORTION_BYTES} ORDER BY seq`,
      [id, day, last],
    );
    if (rows.length === 0) return;
    const keys: (readonly [seq: number, id: string, reporter: string])[] = [];
    for (const row of rows) {
      last = row.seq;
      report.events++;
      const made = recordOf(row.line, id);
      if (made === undefined) {
        report.problem("audit_events", `row ${last} of "${id}": its line is no event of it`);
        continue;
      }
      keys.push([last, made.id, made.reported_by ?? ""]);
      const isOther = (column: (typeof COLUMNS)[number]): boolean =>
        (made[column] ?? null) !== row[column];
      const others: string[] = COLUMNS.filter(isOther);
      if (row.bytes !== Buffer.byteLength(row.line) + 1) others.push("bytes");
      if (others.length > 0) {
        const problem = `row ${last} of "${id}": ${others.join(", ")}: not as its line says`;
        report.problem("audit_events", problem);
      }
    }
    await verifyIds(check, keys);
  }
}

/** The columns that a line should have; `undefined` if the line is not an event of the organization. */
function recordOf(line: string, id: string): NewEvent | undefined {
  try {
    const event = JSON.parse(line) as AuditEvent;
    if (event.organization_id !== id) return undefined;
    return newEventOf(event, false, line);
  } catch {
    return undefined;
  }
}

/** Checks that each id refers to its event, or to an earlier event with the same id. */
async function verifyIds(
  { database, id, report }: OrganizationCheck,
  keys: readonly (readonly [seq: number, id: string, reporter: string])[],
): Promise<void> {
  const lost = await database.search<{ seq: number }>(
    `SELECT g.seq FROM unnest($2::bigint[], $3::text[], $4::text[]) AS g (seq, id, reporter)
      WHERE NOT EXISTS (SELECT FROM audit_ids i WHERE i.organization_id = $1 AND i.id = g.id
                           AND i.reporter = g.reporter AND i.seq <= g.seq)`,
    [id, ...[0, 1, 2].map((place) => keys.map((key) => key[place]))],
  );
  for (const { seq } of lost) {
    report.problem("audit_ids", `row ${seq} of "${id}": its id does not lead to it`);
  }
}
