/**
 * Exact counts of events. Whole minutes, hours and days come from the counters. The events at the ends of a range,
 * and events that are not in the counters yet, are counted one by one.
 */
import type { AuditFilter } from "../../../audit/store.ts";
import { HOUR_MS, MINUTE_MS } from "../../../core/clock.ts";
import type { Searcher } from "../../../core/scheduling/fair-share.ts";
import type { Database } from "../database.ts";
import { Values } from "../values.ts";
import { conditionsOf, countedValuesOf, isCounted, isSearch } from "./conditions.ts";
import { daysOf, daysText, HEAD, inDays } from "./days.ts";
import type { ArrivalDay, CountedDays, Moment, Range } from "./days.ts";

/** The organization's first day. The organization must be `$1`, as in every statement here. */
export const FIRST_DAY = "(SELECT first_day FROM audit_heads WHERE organization_id = $1)";

const WOULD_DENY = "coalesce(observed_decision = 'DENIED', false) AS would_deny";

/** The present moment and the number of matching events; `undefined` if nothing was ever stored. */
export async function totalOf(
  database: Database,
  organization: string,
  filter: AuditFilter,
  searcher?: Searcher,
): Promise<(Moment & { readonly total: number }) | undefined> {
  const values = new Values(organization);
  const isAtOnce = isCounted(filter) && filter.from === undefined && filter.to === undefined;
  const known = isAtOnce ? { days: [], counted: 0 } : await daysOf(database, organization, filter);
  const text = `SELECT h.last_seq, ${daysText(filter, values)} AS days,
      coalesce((${totalText(filter, values, known)}), 0)::bigint AS total FROM ${HEAD}`;
  const [found] = isCounted(filter)
    ? await database.query<Moment & { total: number }>(text, values.all)
    : await database.search<Moment & { total: number }>(text, values.all, searcher);
  return found;
}

/** Selects the number of matches; for a statement with the head row `h`. */
function totalText(filter: AuditFilter, values: Values, known: CountedDays): string {
  const { from, to, decision, consumer } = filter;
  const facets = { decision, consumer };
  if (isCounted(filter)) {
    if (from !== undefined || to !== undefined) {
      return `SELECT sum(events) FROM (${countedText(filter, values, known, HOUR_MS)}) AS counted`;
    }
    if (decision === undefined && consumer === undefined) return "h.events";
    return `SELECT sum(events) FROM audit_days
      WHERE organization_id = $1 AND day >= h.first_day${conditionsOf(facets, values)}`;
  }
  const rows = (days: readonly ArrivalDay[]): string =>
    `SELECT count(*) FROM audit_events
      WHERE organization_id = $1${inDays(days, filter, values)}${conditionsOf(filter, values)}`;
  const [value, ...more] = countedValuesOf(filter);
  if (value === undefined || more.length > 0 || !isOneValue(filter)) return rows(known.days);
  // Whole days come from their counters, so their uncounted rows are left out.
  const isWhole = (day: ArrivalDay): boolean =>
    day.oldest >= (from ?? -Infinity) && day.newest < (to ?? Infinity);
  const whole = known.days.filter(isWhole);
  return `SELECT sum(events) FROM (
    SELECT events FROM audit_values
     WHERE organization_id = $1 AND field = ${values.add(value[0])} AND value = ${values.add(value[1])}
       AND day = ANY (${values.add(whole.map(({ day }) => day))})${conditionsOf(facets, values)}
    UNION ALL SELECT count(*) ${uncounted(filter, values, { ...known, days: whole })}
    UNION ALL (${rows(known.days.filter((day) => !isWhole(day)))})) AS counted`;
}

/** Whether a filter asks for one value of `audit_values` and, at most, a decision, a consumer and a range. */
function isOneValue(filter: AuditFilter): boolean {
  const names = ["decision", "consumer", "from", "to", "q", "reason"];
  const others = Object.entries(filter).filter(
    ([name, wanted]) => wanted !== undefined && !names.includes(name),
  );
  return others.length === 1 && !isSearch(filter);
}

/** The FROM clause for the matching events that are not counted yet, in the snapshot of the statement. */
export function uncounted(
  filter: AuditFilter,
  values: Values,
  { days, counted }: CountedDays,
): string {
  const own = days.filter(({ last }) => last > counted);
  // The row number as a parameter lets the planner estimate that there are few rows.
  return `FROM audit_events WHERE organization_id = $1 AND seq > ${values.add(counted)}::bigint
     AND seq > coalesce((SELECT seq FROM audit_counted WHERE organization_id = $1), 0)
     ${inDays(own, filter, values)}${conditionsOf(filter, values)}`;
}

/**
 * Selects rows with a time, a decision, and the number of matching events; by minutes also whether they are from an
 * AI. Times are cut to hours or minutes, except at the ends of the range.
 */
export function countedText(
  filter: AuditFilter,
  values: Values,
  known: CountedDays,
  most: typeof HOUR_MS | typeof MINUTE_MS,
): string {
  const { from, to, decision, consumer } = filter;
  const facets = (): string => conditionsOf({ decision, consumer }, values);
  const hours =
    most === HOUR_MS ? cut({ from, to }, HOUR_MS) : { whole: undefined, ends: [filter] };
  const minutes = hours.ends.map((end) => cut(end, MINUTE_MS));
  const texts = minutes
    .flatMap(({ ends }) => ends)
    .map(
      (
        end,
      ) => `SELECT time_ms, coalesce(decision, '') AS decision, ai, ${WOULD_DENY}, 1 AS events FROM audit_events
        WHERE organization_id = $1${inDays(known.days, end, values)}${conditionsOf({ decision, consumer, ...end }, values)}`,
    );
  for (const { whole } of minutes) {
    if (whole === undefined) continue;
    texts.push(`SELECT minute_ms AS time_ms, decision, ai, would_deny, events FROM audit_minutes
      WHERE organization_id = $1 AND day >= ${FIRST_DAY}${within("minute_ms", whole, values)}${facets()}`);
  }
  if (hours.whole !== undefined) {
    texts.push(
      `SELECT hour_ms AS time_ms, decision, false AS ai, false AS would_deny, events FROM audit_hours
        WHERE organization_id = $1 AND day >= ${FIRST_DAY}${within("hour_ms", hours.whole, values)}${facets()}`,
      `SELECT time_ms, coalesce(decision, '') AS decision, ai, ${WOULD_DENY}, 1 AS events
        ${uncounted({ decision, consumer, ...hours.whole }, values, known)}`,
    );
  }
  return texts.join(" UNION ALL ");
}

/** The condition that a column is in a range. */
export function within(column: string, { from, to }: Range, values: Values): string {
  return (
    (from === undefined ? "" : ` AND ${column} >= ${values.add(from)}`) +
    (to === undefined ? "" : ` AND ${column} < ${values.add(to)}`)
  );
}

/** Cuts a range into a middle part of whole spans of a length, and the parts at its ends. */
export function cut(
  { from, to }: Range,
  span: number,
): { readonly whole: Range | undefined; readonly ends: readonly Range[] } {
  const first = from === undefined ? undefined : Math.ceil(from / span) * span;
  const end = to === undefined ? undefined : Math.floor(to / span) * span;
  if ((first ?? -Infinity) >= (end ?? Infinity)) return { whole: undefined, ends: [{ from, to }] };
  const ends = [
    { from, to: first },
    { from: end, to },
  ];
  return { whole: { from: first, to: end }, ends: ends.filter((one) => one.from !== one.to) };
}

/** A range of hours, and the number of matches of a list before it. */
export interface Hours {
  readonly oldest: number;
  readonly newest: number;
  readonly before: number;
}

/** The hours that leave out nothing. */
export const ALL_HOURS: Hours = { oldest: -Infinity, newest: Infinity, before: 0 };

/** The hours that have the rows of a list after an offset at present. */
export async function hoursAt(
  database: Database,
  organization: string,
  filter: AuditFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Hours> {
  const values = new Values(organization);
  const counted = countedText(
    filter,
    values,
    await daysOf(database, organization, filter),
    HOUR_MS,
  );
  const [found] = await database.query<{
    first: number | null;
    last: number | null;
    before: number;
  }>(
    `SELECT min(hour) AS first, max(hour) AS last, min(before)::bigint AS before FROM (
       SELECT hour, sum(events) AS events,
              sum(sum(events)) OVER (ORDER BY hour DESC) - sum(events) AS before
         FROM (SELECT floor(time_ms / ${HOUR_MS}.0)::bigint AS hour, events FROM (${counted}) AS counted) AS hours
        GROUP BY hour) AS sums
      WHERE before < ${values.add(offset + limit)} AND before + events > ${values.add(offset)}`,
    values.all,
  );
  const { first = null, last = null, before = 0 } = found ?? {};
  if (first === null || last === null) return ALL_HOURS;
  return { oldest: first * HOUR_MS, newest: (last + 1) * HOUR_MS - 1, before };
}
