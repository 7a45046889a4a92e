/**
 * Loads the events of another engine while nothing else uses the database. Events, ids and totals are stored first,
 * without indexes, which would slow this down. Indexes and counters are built at the end from all events.
 */
import type { AuditEvent } from "../../../audit/schema.ts";
import type { Database } from "../database.ts";
import { textArray } from "../text-array.ts";
import { daysOf } from "./days.ts";
import { tableOf } from "./partitions.ts";
import { readPortion, type EventLine } from "./portions.ts";
import { EVENT_COLUMNS, newEventOf } from "./records.ts";

const ARRAYS = ["id", ...EVENT_COLUMNS] as const;

const NAME = "audit_load";
const TEXT = `
  WITH sent AS MATERIALIZED (
    SELECT h.organization_id, h.last_seq + place AS seq, id, octet_length(line) + 1 AS bytes,
           day::date AS day, time_ms::bigint AS time_ms, ai::boolean AS ai,
           ${EVENT_COLUMNS.slice(3).join(", ")}
      FROM unnest(${ARRAYS.map((_, i) => `$${i + 2}::text[]`).join(", ")})
           WITH ORDINALITY AS s (${ARRAYS.join(", ")}, place)
      JOIN audit_heads h ON h.organization_id = $1
  ), events AS (
    INSERT INTO audit_events (organization_id, seq, bytes, ${EVENT_COLUMNS.join(", ")})
    SELECT organization_id, seq, bytes, ${EVENT_COLUMNS.join(", ")} FROM sent
  ), ids AS (
    INSERT INTO audit_ids (organization_id, id, reporter, seq, day, bytes)
    SELECT organization_id, id, coalesce(reported_by, ''), seq, day, bytes FROM sent
  )
  UPDATE audit_heads h
     SET last_seq = h.last_seq + s.events, events = h.events + s.events, bytes = h.bytes + s.bytes
    FROM (SELECT count(*) AS events, sum(bytes) AS bytes FROM sent) s
   WHERE h.organization_id = $1
  -- The end of the load waits for the disk, and covers what is stored before it.
  RETURNING set_config('synchronous_commit', 'off', true)`;

/** Removes indexes and constraints that slow down a load; `finishLoad` makes them again. */
export async function beginLoad(database: Database): Promise<void> {
  await database.run("DROP INDEX IF EXISTS audit_events_time, audit_events_trace");
  await database.run("ALTER TABLE audit_ids DROP CONSTRAINT IF EXISTS audit_ids_pkey");
}

/** An organization's events as they are sent to the database, and the days of their arrival. */
export interface Load {
  readonly organization: string;
  readonly arrays: readonly Buffer[];
  readonly days: readonly string[];
}

/** Prepares events of an organization that are given as lines of JSON. */
export function loadOf(organization: string, lines: readonly Buffer[]): Load {
  const events = lines.map((line) => {
    const text = line.toString("utf8");
    return newEventOf(JSON.parse(text) as AuditEvent, false, text);
  });
  const arrays = ARRAYS.map((name) => textArray(events.map((event) => event[name]?.toString())));
  return { organization, arrays, days: [...new Set(events.map(({ day }) => day))] };
}

/** Stores events after the organization's events. Their partitions must exist. */
export async function storeLoad(database: Database, { organization, arrays }: Load): Promise<void> {
  await database.run(
    "INSERT INTO audit_heads (organization_id) VALUES ($1) ON CONFLICT DO NOTHING",
    [organization],
  );
  await database.run(TEXT, [organization, ...arrays], NAME);
}

/** Builds indexes and counters of all events, on two connections. An interrupted load repeats this step. */
export async function finishLoad(database: Database): Promise<void> {
  const first = buildIndexes(database).then(() => countDays(database));
  await Promise.all([first, buildIds(database).then(() => countMinutes(database))]);
}

async function buildIndexes(database: Database): Promise<void> {
  await database.maintain(`
    CREATE INDEX IF NOT EXISTS audit_events_time ON audit_events (organization_id, time_ms, seq);
    CREATE INDEX IF NOT EXISTS audit_events_trace ON audit_events (organization_id, left(trace_id, 64))
     WHERE trace_id IS NOT NULL`);
}

async function buildIds(database: Database): Promise<void> {
  await database.maintain(`
    SET LOCAL maintenance_work_mem = '256MB';
    ALTER TABLE audit_ids DROP CONSTRAINT IF EXISTS audit_ids_pkey,
                          ADD PRIMARY KEY (organization_id, id, reporter, seq);
    ANALYZE audit_ids, activity, runtimes`);
}

async function countDays(database: Database): Promise<void> {
  await database.maintain(`
    SET LOCAL work_mem = '128MB';
    TRUNCATE audit_days, audit_hours, audit_values, audit_provider_minutes, audit_counted;
    INSERT INTO audit_days (organization_id, day, decision, consumer, events, bytes, oldest_ms, newest_ms, last_seq)
    SELECT organization_id, day, coalesce(decision, ''), coalesce(consumer, ''),
           count(*), sum(bytes), min(time_ms), max(time_ms), max(seq)
      FROM audit_events GROUP BY 1, 2, 3, 4;
    SELECT audit_count_1(organization_id, 2147483647) FROM audit_heads;
    ANALYZE audit_days, audit_hours, audit_values, audit_provider_minutes`);
}

async function countMinutes(database: Database): Promise<void> {
  await database.maintain(`
    SET LOCAL work_mem = '128MB';
    TRUNCATE audit_minutes;
    INSERT INTO audit_minutes (organization_id, minute_ms, day, decision, consumer, ai, would_deny, events)
    SELECT organization_id, time_ms - (time_ms % 60000 + 60000) % 60000, day,
           coalesce(decision, ''), coalesce(consumer, ''), ai, coalesce(observed_decision = 'DENIED', false), count(*)
      FROM audit_events GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7;
    ANALYZE audit_minutes, ${await partitionTexts(database)}`);
}

/** The partitions with the columns that queries compare. The column `line` is left out: its statistics take longest. */
async function partitionTexts(database: Database): Promise<string> {
  const days = await database.query<{ day: string }>("SELECT day::text FROM audit_partitions");
  const columns = ["organization_id", "seq", ...EVENT_COLUMNS].filter((name) => name !== "line");
  return days.map(({ day }) => `${tableOf(day)} (${columns.join(", ")})`).join(", ");
}

/** The lines of all events of an organization in the order of ingest, in portions. */
export async function* storedLines(
  database: Database,
  organization: string,
): AsyncGenerator<readonly Buffer[]> {
  const { days } = await daysOf(database, organization);
  const read = (after: number) =>
    readPortion(
      (text, values = []) => database.search(text, values),
      organization,
      days.filter(({ last }) => last > after).map(({ day }) => day),
      after,
      Number.MAX_SAFE_INTEGER,
    );
  let rows = await read(0);
  while (rows.length > 0) {
    const next = read((rows.at(-1) as EventLine).row); // read ahead while the caller works on this portion
    next.catch(() => undefined);
    yield rows.map(({ line }) => Buffer.from(line));
    rows = await next;
  }
}
