/**
 * Loads the events of another engine while nothing else uses the database. Events are stored as those of clients are,
 * but without the indexes that would slow this down. These, and the later counters, are built at the end.
 */
import type { AuditEvent } from "../../../audit/schema.ts";
import type { Database } from "../database.ts";
import { daysOf } from "./days.ts";
import { tableOf } from "./partitions.ts";
import { readPortion, type EventLine } from "./portions.ts";
import { EVENT_COLUMNS, newEventOf, type NewEvent } from "./records.ts";

/** Removes indexes and constraints that slow down a load; `finishLoad` makes them again. */
export async function beginLoad(database: Database): Promise<void> {
  await database.run("DROP INDEX IF EXISTS audit_events_time, audit_events_trace");
  await database.run("ALTER TABLE audit_ids DROP CONSTRAINT IF EXISTS audit_ids_pkey");
}

/** An event that is given as a line of JSON. */
export function loadedEvent(line: Buffer): NewEvent {
  const text = line.toString("utf8");
  return newEventOf(JSON.parse(text) as AuditEvent, false, text);
}

/** Builds indexes and the later counters, on two connections. An interrupted load repeats this step. */
export async function finishLoad(database: Database): Promise<void> {
  const tables = ["activity", "runtimes", ...(await partitionTexts(database))];
  await Promise.all([
    database.maintain(`
      CREATE INDEX IF NOT EXISTS audit_events_time ON audit_events (organization_id, time_ms, seq);
      CREATE INDEX IF NOT EXISTS audit_events_trace ON audit_events (organization_id, left(trace_id, 64))
       WHERE trace_id IS NOT NULL;
      ANALYZE ${tables.join(", ")}`),
    database.maintain(`
      SET LOCAL maintenance_work_mem = '256MB';
      ALTER TABLE audit_ids DROP CONSTRAINT IF EXISTS audit_ids_pkey,
                            ADD PRIMARY KEY (organization_id, id, reporter, seq);
      SELECT audit_count_1(organization_id, 2147483647) FROM audit_heads;
      ANALYZE audit_ids, audit_days, audit_minutes, audit_hours, audit_values, audit_provider_minutes`),
  ]);
}

/** The partitions with the columns that queries compare. The column `line` is left out: its statistics take longest. */
async function partitionTexts(database: Database): Promise<readonly string[]> {
  const days = await database.query<{ day: string }>("SELECT day::text FROM audit_partitions");
  const columns = ["organization_id", "seq", ...EVENT_COLUMNS].filter((name) => name !== "line");
  return days.map(({ day }) => `${tableOf(day)} (${columns.join(", ")})`);
}

/** The lines of all events of an organization in the order of ingest, in portions. */
export async function* storedLines(
  database: Database,
  organization: string,
): AsyncGenerator<readonly Buffer[]> {
  const { days } = await daysOf(database, organization);
  const read = (after: number) =>
    readPortion((text, values = []) => database.search(text, values), {
      organization,
      days: days.filter(({ last }) => last > after).map(({ day }) => day),
      after,
      upTo: Number.MAX_SAFE_INTEGER,
    });
  let rows = await read(0);
  while (rows.length > 0) {
    const next = read((rows.at(-1) as EventLine).row); // read ahead while the caller works on this portion
    next.catch(() => undefined);
    yield rows.map(({ line }) => Buffer.from(line));
    rows = await next;
  }
}
