/**
 * Indexes the events of past days, for searches and exact filters. Indexes would slow down the ingest of a day that
 * still takes events, so its rows are scanned instead. Without the extension `pg_trgm`, searches scan all rows.
 */
import { DAY_MS } from "../../../core/clock.ts";
import { Unavailable } from "../../../core/errors.ts";
import type { Database } from "../database.ts";
import { withLease } from "../leases.ts";
import { INDEXED, INDEXED_CHARACTERS } from "./conditions.ts";
import { tableOf } from "./partitions.ts";
import { dayOf } from "./records.ts";

const LEASE_MS = 60 * 60_000;

/** Indexes the days before yesterday that have no indexes yet. A lease lets one server at a time do this. */
export async function indexClosedDays(database: Database, now: number): Promise<void> {
  const isOver = "day < $1::date AND NOT (is_indexed AND has_trigrams)";
  const before = dayOf(now - DAY_MS);
  const [open] = await database.query(`SELECT FROM audit_partitions WHERE ${isOver} LIMIT 1`, [
    before,
  ]);
  if (open === undefined) return;
  const hasTrigrams = await hasExtension(database);
  const days = await database.query<{ day: string }>(
    `SELECT day::text AS day FROM audit_partitions
      WHERE ${isOver} AND ($2::boolean OR NOT is_indexed) ORDER BY audit_partitions.day`,
    [before, hasTrigrams],
  );
  if (days.length === 0) return;
  await withLease(database, "audit indexes", { forMs: LEASE_MS }, async () => {
    for (const { day } of days) await indexDay(database, day, hasTrigrams);
  }).catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error;
  });
}

/** Indexes a day. Building the indexes blocks writes to the day, but not reads. */
async function indexDay(database: Database, day: string, hasTrigrams: boolean): Promise<void> {
  const table = tableOf(day);
  const columns = INDEXED.map(
    (column) => `CREATE INDEX IF NOT EXISTS ${table}_${column} ON ${table}
      (organization_id, left(${column}, ${INDEXED_CHARACTERS}));`,
  );
  const trigrams = `CREATE INDEX IF NOT EXISTS ${table}_search ON ${table} USING gin (search gin_trgm_ops);`;
  // ANALYZE must not list columns: the indexed expressions would then get no statistics.
  await database.maintain(
    `UPDATE audit_partitions SET is_indexed = true, has_trigrams = ${hasTrigrams} WHERE day = '${day}';
     ${columns.join("")} ${hasTrigrams ? trigrams : ""}
     ANALYZE ${table}`,
  );
}

async function hasExtension(database: Database): Promise<boolean> {
  const isThere = async (): Promise<boolean> => {
    const found = await database.query("SELECT FROM pg_extension WHERE extname = 'pg_trgm'");
    return found.length > 0;
  };
  if (await isThere()) return true;
  // The extension is trusted: the owner of the database may create it if its files are installed.
  await database.run("CREATE EXTENSION IF NOT EXISTS pg_trgm").catch(() => undefined);
  return isThere();
}
