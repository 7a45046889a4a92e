/**
 * Indexes the searched texts of days that are over, which makes a search for a rare text fast. The index of a
 * day that still takes events would slow them down; its texts are looked through one by one. Where the
 * extension `pg_trgm` cannot be had, all of them are.
 */
import { DAY_MS } from "../../../core/clock.ts";
import { Unavailable } from "../../../core/errors.ts";
import type { Database } from "../database.ts";
import { withLease } from "../leases.ts";
import { tableOf } from "./partitions.ts";
import { dayOf } from "./records.ts";

const LEASE_MS = 60 * 60_000;

/** Indexes the days before yesterday that are not indexed; one server at a time does so. */
export async function indexClosedDays(database: Database, now: number): Promise<void> {
  const days = await database.query<{ day: string }>(
    "SELECT day::text AS day FROM audit_partitions WHERE NOT has_trigrams AND day < $1::date ORDER BY audit_partitions.day",
    [dayOf(now - DAY_MS)],
  );
  if (days.length === 0 || !(await hasExtension(database))) return;
  await withLease(database, "audit trigrams", { forMs: LEASE_MS }, async () => {
    for (const { day } of days) {
      const table = tableOf(day);
      // Building keeps others from writing to the day, but not from reading it.
      await database.maintain(
        `UPDATE audit_partitions SET has_trigrams = true WHERE day = '${day}';
         CREATE INDEX IF NOT EXISTS ${table}_search ON ${table} USING gin (search gin_trgm_ops)`,
      );
    }
  }).catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error;
  });
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
