/**
 * Removes old events in two steps. First the organization's first day is moved: from that moment no answer shows
 * the days before it. Some minutes later, when no export reads them, or after a day, their rows are
 * deleted, and empty partitions are dropped.
 */
import type { AuditAllowance, AuditRemoval } from "../../../audit/store.ts";
import { Unavailable } from "../../../core/errors.ts";
import { forEachOrganization } from "../../../core/each-organization.ts";
import type { Log } from "../../../core/log.ts";
import type { Database, Statements } from "../database.ts";
import { codeOf, LOCK_TIMEOUT } from "../faults.ts";
import { withLease } from "../leases.ts";
import type { Removing } from "../proof/removing.ts";
import { dropPartition, tableOf } from "./partitions.ts";
import { dayOf } from "./records.ts";

/** Longer than the reading of any page. */
const GRACE_SECONDS = 300;
const ROWS_AT_ONCE = 10_000;
const LEASE_MS = 15 * 60_000;
/** The tables with rows for each day, apart from `audit_events` and `audit_days`. */
const COUNTERS = [
  "audit_ids",
  "audit_minutes",
  "audit_provider_minutes",
  "audit_hours",
  "audit_values",
];

/** An organization's events of one arrival day. */
interface Day {
  readonly day: string;
  readonly events: number;
  readonly bytes: number;
}

/** Removes the days before the day of a moment; see `AuditStore.retain`. */
export async function retain(
  database: Database,
  organization: string | undefined,
  olderThanMs: number,
  log: Log,
): Promise<readonly AuditRemoval[]> {
  const first = dayOf(olderThanMs);
  const removals: AuditRemoval[] = [];
  const removeOld = async (id: string): Promise<void> => {
    const removal = await database.transaction(async (transaction) => {
      await lock(transaction, id);
      return removeBefore(transaction, id, first);
    });
    if (removal !== undefined) removals.push(removal);
  };
  if (organization !== undefined) await removeOld(organization);
  else {
    const check = () => database.query("SELECT");
    const parts = { check, log, failure: "audit retention failed" };
    await forEachOrganization(parts, await withOld(database, first), removeOld);
  }
  return removals;
}

/** The organizations with events of earlier days. */
async function withOld(database: Database, first: string): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT DISTINCT organization_id AS id FROM audit_days
      WHERE day < $1::date AND removed_at IS NULL ORDER BY id`,
    [first],
  );
  return rows.map(({ id }) => id);
}

/** Removes the oldest days, but never the newest one; see `AuditStore.trim`. */
export function trim(
  database: Database,
  organization: string,
  allowed: AuditAllowance,
): Promise<AuditRemoval | undefined> {
  return database.transaction(async (transaction) => {
    await lock(transaction, organization);
    const days = await transaction.query<Day>(
      `SELECT day::text AS day, sum(events)::bigint AS events, sum(bytes)::bigint AS bytes FROM audit_days
        WHERE organization_id = $1 AND removed_at IS NULL GROUP BY audit_days.day ORDER BY audit_days.day`,
      [organization],
    );
    let { events, bytes } = sumOf(days);
    let first: string | undefined;
    for (const [i, day] of days.slice(0, -1).entries()) {
      if (events <= allowed.events && bytes <= allowed.bytes) break;
      events -= day.events;
      bytes -= day.bytes;
      first = days[i + 1]?.day;
    }
    return first === undefined ? undefined : removeBefore(transaction, organization, first);
  });
}

/** Locks the organization's head row: no events can be stored until the transaction ends. */
async function lock(transaction: Statements, organization: string): Promise<void> {
  await transaction.query("SELECT FROM audit_heads WHERE organization_id = $1 FOR UPDATE", [
    organization,
  ]);
}

async function removeBefore(
  transaction: Statements,
  organization: string,
  first: string,
): Promise<AuditRemoval | undefined> {
  const removed = await transaction.query<Day>(
    `UPDATE audit_days SET removed_at = now()
      WHERE organization_id = $1 AND day < $2::date AND removed_at IS NULL
      RETURNING day::text AS day, events, bytes`,
    [organization, first],
  );
  if (removed.length === 0) return undefined;
  const sum = sumOf(removed);
  await transaction.run(
    `UPDATE audit_heads SET first_day = $2::date, events = events - $3, bytes = bytes - $4
      WHERE organization_id = $1`,
    [organization, first, sum.events, sum.bytes],
  );
  return { organization, ...sum };
}

function sumOf(days: readonly Day[]): { events: number; bytes: number } {
  return {
    events: days.reduce((sum, day) => sum + day.events, 0),
    bytes: days.reduce((sum, day) => sum + day.bytes, 0),
  };
}

/** Deletes the events that were removed some time ago. A lease lets one server at a time do this. */
export async function sweep(
  database: Database,
  graceSeconds = GRACE_SECONDS,
  removing: Removing = async () => true,
): Promise<void> {
  await withLease(database, "audit sweep", { forMs: LEASE_MS }, async () => {
    const days = await database.query<{ day: string; isWhole: boolean; organizations: string[] }>(
      `WITH deletable AS (
         SELECT organization_id, day FROM audit_days d
          WHERE removed_at < now() - make_interval(secs => $1)
            AND (removed_at < now() - interval '1 day' OR NOT EXISTS (
              SELECT FROM audit_readers r WHERE r.expires_at > now() AND r.first_day <= d.day))
          GROUP BY 1, 2)
       SELECT day::text AS day, array_agg(organization_id) AS organizations,
              NOT EXISTS (SELECT FROM audit_days o WHERE o.day = deletable.day AND NOT EXISTS (
                SELECT FROM deletable e WHERE e.organization_id = o.organization_id AND e.day = o.day)) AS "isWhole"
         FROM deletable GROUP BY deletable.day ORDER BY deletable.day`,
      [graceSeconds],
    );
    const unsigned = new Set<string>();
    for (const organization of new Set(days.flatMap(({ organizations }) => organizations))) {
      if (!(await removing({ organization, log: "audit" }))) unsigned.add(organization);
    }
    for (const { day, isWhole, organizations } of days) {
      if (organizations.some((organization) => unsigned.has(organization))) continue;
      if (!isWhole) await deleteRows(database, "audit_events", day, organizations);
      else if (!(await dropDay(database, day, organizations))) continue;
      for (const table of COUNTERS) {
        await deleteRows(database, table, day, organizations);
      }
      await deleteRows(database, "audit_days", day, organizations);
    }
    // Later than they end: a server that was stopped for a while renews its own.
    await database.run("DELETE FROM audit_readers WHERE expires_at < now() - interval '1 hour'");
  }).catch((error: unknown) => {
    if (!(error instanceof Unavailable)) throw error; // otherwise retried at the next sweep
  });
}

/** Drops the partition of a day; `false` if it is in use, or has got new events. */
async function dropDay(
  database: Database,
  day: string,
  organizations: readonly string[],
): Promise<boolean> {
  try {
    return await database.transaction(async (transaction) => {
      await dropPartition(transaction, day);
      // The lock on the partition keeps new events out. Events that were stored before the lock are visible now.
      const [other] = await transaction.query(
        "SELECT FROM audit_days WHERE day = $1::date AND NOT organization_id = ANY ($2) LIMIT 1",
        [day, organizations],
      );
      if (other !== undefined) throw new StillUsed();
      await transaction.run(`DROP TABLE ${tableOf(day)}`);
      return true;
    });
  } catch (error) {
    if (error instanceof StillUsed || codeOf(error) === LOCK_TIMEOUT) return false;
    throw error;
  }
}

/** A partition got events while it was about to be dropped. */
class StillUsed extends Error {}

/** Deletes an organization's rows of a day in portions, so that no statement takes long. */
async function deleteRows(
  database: Database,
  table: string,
  day: string,
  organizations: readonly string[],
): Promise<void> {
  const text = `DELETE FROM ${table} WHERE day = $1::date AND ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE day = $1::date AND organization_id = ANY ($2) LIMIT ${ROWS_AT_ONCE}))`;
  while ((await database.run(text, [day, organizations])) === ROWS_AT_ONCE);
}
