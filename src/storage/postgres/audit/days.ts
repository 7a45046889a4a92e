/**
 * The days of arrival that a query needs. Each day is a partition. With a year of partitions, planning a query
 * over all of them takes longer than answering it, so every query names its days.
 */
import type { AuditFilter, AuditUsage } from "../../../audit/store.ts";
import type { Database } from "../database.ts";
import { Values } from "../values.ts";
import { conditionsOf, countedValuesOf } from "./conditions.ts";

/** An organization's events of one arrival day: the range of their timestamps, and the last row. */
export interface ArrivalDay {
  readonly day: string;
  readonly oldest: number;
  readonly newest: number;
  readonly last: number;
}

/** The days that have matching events, and the row up to which `audit_counted` counts them. */
export interface CountedDays {
  readonly days: readonly ArrivalDay[];
  readonly counted: number;
}

/** The stored events of an organization at one moment: its days, up to the last row. */
export interface Moment {
  readonly last_seq: number;
  readonly days: readonly ArrivalDay[];
}

/** Timestamps from `from` on and before `to`. */
export interface Range {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Timestamps from `oldest` to `newest`, both included, and the days in which such events may have arrived. */
export interface Window {
  readonly oldest: number;
  readonly newest: number;
  readonly days: readonly string[];
}

/** The head row `h` of the organization $1, and the row `c` with the newest row that is counted. */
export const HEAD = `audit_heads h LEFT JOIN audit_counted c ON c.organization_id = h.organization_id
  WHERE h.organization_id = $1`;

/** Selects the days of the organization $1 that may have matching events; for a statement with `HEAD`. */
export function daysText(filter: AuditFilter, values: Values): string {
  const { decision, consumer } = filter;
  const have = countedValuesOf(filter).map(
    ([field, value]) => ` AND (last > coalesce(c.seq, 0) OR EXISTS (
      SELECT FROM audit_values v WHERE v.organization_id = $1 AND v.field = ${values.add(field)}
         AND v.value = ${values.add(value)} AND v.day = d.day::date))`,
  );
  return `coalesce((
    SELECT json_agg(d) FROM (
      SELECT day::text AS day, min(oldest_ms) AS oldest, max(newest_ms) AS newest, max(last_seq) AS last
        FROM audit_days
       WHERE organization_id = $1 AND day >= h.first_day${conditionsOf({ decision, consumer }, values)}
       GROUP BY audit_days.day) AS d
     WHERE true${have.join("")}), '[]')`;
}

/** The days of an organization that may have matching events. */
export async function daysOf(
  database: Database,
  organization: string,
  filter: AuditFilter = {},
): Promise<CountedDays> {
  const values = new Values(organization);
  const [found] = await database.query<CountedDays>(
    `SELECT ${daysText(filter, values)} AS days, coalesce(c.seq, 0) AS counted FROM ${HEAD}`,
    values.all,
  );
  return found ?? { days: [], counted: 0 };
}

/** The condition that limits a query to the days in which events of a range may have arrived. */
export function inDays(days: readonly ArrivalDay[], range: Range, values: Values): string {
  const { from = -Infinity, to = Infinity } = range;
  const wanted = days.filter(({ oldest, newest }) => newest >= from && oldest < to);
  return ` AND day = ANY (${values.add(wanted.map(({ day }) => day))})`;
}

/**
 * Cuts a range into windows, newest first, so that a page of the newest events reads few days. Each window has
 * twice as many days as the one before.
 */
export function* windowsOf(
  days: readonly ArrivalDay[],
  { from = -Infinity, to = Infinity }: Range,
): Generator<Window> {
  const found = days
    .filter(({ oldest, newest }) => newest >= from && oldest < to)
    .sort((a, b) => b.newest - a.newest);
  let newest = to - 1;
  let next = 0;
  for (let size = 2; next < found.length; size *= 2) {
    next += size;
    const oldest = Math.max(from, (found[next]?.newest ?? -Infinity) + 1);
    if (oldest > newest) continue;
    const own = found.filter((day) => day.newest >= oldest && day.oldest <= newest);
    yield { oldest, newest, days: own.map(({ day }) => day) };
    newest = oldest - 1;
  }
}

/** The amount of stored data; see `AuditStore.usage`. */
export async function usageOf(database: Database, organization: string): Promise<AuditUsage> {
  const [usage] = await database.query<{ events: number; bytes: number; oldest: number | null }>(
    `SELECT h.events, h.bytes, (
        SELECT min(oldest_ms) FROM audit_days d
         WHERE d.organization_id = $1 AND d.day >= h.first_day) AS oldest
       FROM audit_heads h WHERE h.organization_id = $1`,
    [organization],
  );
  const { events = 0, bytes = 0, oldest } = usage ?? {};
  return { events, bytes, oldest: oldest ?? undefined };
}
