/**
 * Indexes the events of days that are over, for searches and exact filters. The indexes of a day that still takes
 * events would slow these down, so its rows are looked through one by one. Where the extension `pg_trgm` cannot
 * be had, searches look through all rows.
 */
import { DAY_MS } from "../../../core/clock.ts";
import { Unavailable } from "../../../core/errors.ts";
import type { Database } from "../database.ts";
import { withLease } from "../leases.ts";
import { INDEXED, INDEXED_CHARACTERS } from "./conditions.ts";
import { tableOf } from "./partitions.ts";
import { dayOf } from "./records.ts";

const LEASE_MS = 60 * 60_000;

/** Indexes the days before yesterday that are not indexed; one server at a time does so. */
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

/** Building keeps others from writing to the day, but not from reading it. */
async function indexDay(database: Database, day: string, hasTrigrams: boolean): Promise<void> {
  const table = tableOf(day);
  const columns = INDEXED.map(
    (column) => `CREATE INDEX IF NOT EXISTS ${table}_${column} ON ${table}
      (organization_id, left(${column}, ${INDEXED_CHARACTERS}));`,
  );
  const trigrams = `CREATE INDEX IF NOT EXISTS ${table}_search ON ${table} USING gin (search gin_trgm_ops);`;
  // Without the names of columns, or the indexed beginnings would get no statistics.
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
  // It is trusted: the owner of the database may create it, where the operator has installed it.
  await database.run("CREATE EXTENSION IF NOT EXISTS pg_trgm").catch(() => undefined);
  return isThere();
}
