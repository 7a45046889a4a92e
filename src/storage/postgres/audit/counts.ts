/** The counts of the dashboard and the histogram, read from the counters if they have them. */
import type { AuditActivity, AuditFilter, AuditHistogram } from "../../../audit/store.ts";
import type { ProviderActivity } from "../../../audit/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../core/clock.ts";
import type { Searcher } from "../../../core/scheduling/fair-share.ts";
import type { Database } from "../database.ts";
import { Values } from "../values.ts";
import { conditionsOf, isCounted } from "./conditions.ts";
import { fromText } from "../text.ts";
import { daysOf, inDays, type CountedDays } from "./days.ts";
import { columnOf, providerKey, providerOf } from "./records.ts";
import { countedText, cut, FIRST_DAY, uncounted, within } from "./totals.ts";

const MOST_LISTED = 1_000;
/** The most names that are compared, those with the most events: runtimes can report any number of names. */
const MOST_NAMES = 4 * MOST_LISTED;

/** Events by bucket and decision; see `AuditStore.histogram`. */
export async function histogramOf(
  database: Database,
  organization: string,
  filter: AuditFilter,
  { from, to, intervalMs }: { from: number; to: number; intervalMs: number },
  searcher?: Searcher,
): Promise<AuditHistogram> {
  const length = Math.max(0, Math.ceil((to - from) / intervalMs));
  const [allowed, denied, other] = [0, 1, 2].map(() => new Array<number>(length).fill(0)) as [
    number[],
    number[],
    number[],
  ];
  const both = {
    ...filter,
    from: Math.max(from, filter.from ?? -Infinity),
    to: Math.min(to, filter.to ?? Infinity),
  };
  if (both.from >= both.to) return { allowed, denied, other };
  const values = new Values(organization);
  const known = await daysOf(database, organization, filter);
  const isWhole = (span: number): boolean => from % span === 0 && intervalMs % span === 0;
  const isByMinute = isCounted(filter) && isWhole(MINUTE_MS);
  const rows = isByMinute
    ? countedText(both, values, known, isWhole(HOUR_MS) ? HOUR_MS : MINUTE_MS)
    : `SELECT time_ms, decision, 1 AS events FROM audit_events
        WHERE organization_id = $1${inDays(known.days, both, values)}${conditionsOf(both, values)}`;
  const text = `SELECT (time_ms - ${values.add(from)}::bigint) / ${values.add(intervalMs)}::bigint AS bucket,
    decision, sum(events)::bigint AS events FROM (${rows}) AS counted GROUP BY 1, 2`;
  interface Bucket {
    readonly bucket: number;
    readonly decision: string | null;
    readonly events: number;
  }
  const buckets = isByMinute
    ? await database.query<Bucket>(text, values.all)
    : await database.search<Bucket>(text, values.all, searcher);
  for (const { bucket, decision, events } of buckets) {
    const list = decision === "ALLOWED" ? allowed : decision === "DENIED" ? denied : other;
    list[bucket] = (list[bucket] ?? 0) + events;
  }
  return { allowed, denied, other };
}

/** A row of the counts of providers in the last 24 hours. */
interface ProviderRow {
  /** `minute`: counted by the counters. `event`: counted from events. `facet`: a decision instead of a provider. */
  readonly kind: "minute" | "event" | "facet";
  /** The provider, or the decision of a facet. */
  readonly name: string;
  readonly ai: boolean;
  readonly would_deny: boolean;
  readonly events: number;
  readonly failed: number;
}

/** The range of the 24 hours up to and including a moment. */
function lastDay(now: number): { readonly from: number; readonly to: number } {
  return { from: now - DAY_MS + 1, to: now + 1 };
}

/** Selects `ProviderRow`s of the named providers; without names, of the providers that were used most. */
function providersOf(
  now: number,
  values: Values,
  known: CountedDays,
  names?: readonly string[],
): string {
  const { whole = {}, ends } = cut(lastDay(now), MINUTE_MS);
  const among = (forms: (name: string) => string): string =>
    names === undefined ? "" : ` AND provider = ANY (${values.add(names.map(forms))}::text[])`;
  const found = [
    ...ends.map(
      (end) =>
        `FROM audit_events WHERE organization_id = $1${inDays(known.days, end, values)}${conditionsOf(end, values)}`,
    ),
    uncounted(whole, values, known),
  ];
  const parts = found.map(
    (from) => `SELECT 'event' AS kind, provider, 1 AS events,
        (coalesce(decision = 'DENIED', false) OR lower(status) IN ('failed', 'error'))::integer AS failed
      ${from} AND provider IS NOT NULL${among(columnOf)}`,
  );
  parts.push(`SELECT 'minute' AS kind, provider, events, failed FROM audit_provider_minutes
    WHERE organization_id = $1 AND day >= ${FIRST_DAY}${within("minute_ms", whole, values)}${among(providerKey)}`);
  return `SELECT kind, provider AS name, false AS ai, false AS would_deny, sum(events)::bigint AS events, sum(failed)::bigint AS failed
    FROM (${parts.join(" UNION ALL ")}) AS counted GROUP BY 1, 2 ORDER BY 5 DESC LIMIT ${MOST_NAMES}`;
}

/** Adds up the rows of each provider, by its key. */
function byKey(rows: readonly ProviderRow[]): Map<string, { events: number; failed: number }> {
  const sums = new Map<string, { events: number; failed: number }>();
  for (const { kind, name, events, failed } of rows) {
    const key = kind === "minute" ? name : providerKey(fromText(name));
    const sum = sums.get(key);
    sums.set(key, {
      events: events + (sum?.events ?? 0),
      failed: failed + (sum?.failed ?? 0),
    });
  }
  return sums;
}

/** The counts of a day; see `AuditStore.activity`. A search: with 1,000 providers in each minute it takes a second. */
export async function activityOf(
  database: Database,
  organization: string,
  now: number,
  searcher?: Searcher,
): Promise<AuditActivity> {
  const values = new Values(organization);
  const known = await daysOf(database, organization);
  const rows = await database.search<ProviderRow>(
    `SELECT 'facet' AS kind, decision AS name, ai, would_deny, sum(events)::bigint AS events, 0::bigint AS failed
       FROM (${countedText(lastDay(now), values, known, MINUTE_MS)}) AS counted GROUP BY 2, 3, 4
     UNION ALL (${providersOf(now, values, known)})`,
    values.all,
    searcher,
  );
  const facets = rows.filter(({ kind }) => kind === "facet");
  const sumOf = (matches: (row: ProviderRow) => boolean): number =>
    facets.filter(matches).reduce((sum, { events }) => sum + events, 0);
  const providers = [...byKey(rows.filter(({ kind }) => kind !== "facet"))].flatMap(
    ([key, { events }]) => {
      const name = providerOf(key);
      return name === undefined ? [] : [[name, events] as const];
    },
  );
  return {
    commands: sumOf(() => true),
    allowed: sumOf(({ name }) => name === "ALLOWED"),
    denied: sumOf(({ name }) => name === "DENIED"),
    wouldBeDenied: sumOf(({ would_deny: wouldDeny }) => wouldDeny),
    ai: sumOf(({ ai }) => ai),
    byProvider: providers.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MOST_LISTED),
  };
}

/** Counts the use of some providers; see `AuditStore.providerUse`. */
export async function providerUseOf(
  database: Database,
  organization: string,
  names: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, ProviderActivity>> {
  if (names.length === 0) return new Map();
  const values = new Values(organization);
  const known = await daysOf(database, organization);
  const statement = providersOf(now, values, known, names);
  const recent = await database.query<ProviderRow>(statement, values.all);
  const others = new Values(organization, names.map(providerKey));
  // The newest minute of a provider is the first entry of the primary key. Its events may have arrived on several days.
  const used = await database.query<{ name: string; newest: number | null }>(
    `SELECT name, (
        SELECT max(newest_ms) FROM audit_provider_minutes m
         WHERE m.organization_id = $1 AND m.provider = name AND m.day >= ${FIRST_DAY} AND m.minute_ms = (
           SELECT minute_ms FROM audit_provider_minutes l
            WHERE l.organization_id = $1 AND l.provider = name AND l.day >= ${FIRST_DAY}
            ORDER BY minute_ms DESC LIMIT 1)) AS newest
       FROM unnest($2::text[]) AS name
     UNION ALL SELECT audit_provider_key(provider), max(time_ms) ${uncounted({}, others, known)}
       AND provider = ANY (${others.add(names.map(columnOf))}) GROUP BY 1`,
    others.all,
  );
  const newest = new Map<string, number>();
  for (const { name, newest: at } of used) {
    if (at !== null) newest.set(name, Math.max(at, newest.get(name) ?? -Infinity));
  }
  const sums = byKey(recent);
  const use = new Map<string, ProviderActivity>();
  for (const name of names) {
    const key = providerKey(name);
    const lastUsed = newest.get(key);
    if (lastUsed === undefined) continue;
    use.set(name, { events: 0, failed: 0, ...sums.get(key), lastUsed });
  }
  return use;
}

/** The providers that events name; see `AuditStore.providerNames`. */
export async function providerNamesOf(
  database: Database,
  organization: string,
  most: number,
  searcher?: Searcher,
): Promise<ReadonlySet<string>> {
  const values = new Values(organization);
  const known = await daysOf(database, organization);
  const recent = `SELECT audit_provider_key(provider) AS provider, max(time_ms) AS newest_ms
    ${uncounted({}, values, known)} AND provider IS NOT NULL GROUP BY 1`;
  const limit = values.add(most);
  // Jumps from one name to the next, since each name has many rows, one for each minute.
  const names = await database.search<{ provider: string }>(
    `WITH RECURSIVE head AS (SELECT ${FIRST_DAY} AS first_day), names AS (
       (SELECT provider FROM audit_provider_minutes
         WHERE organization_id = $1 AND day >= (SELECT first_day FROM head) ORDER BY provider LIMIT 1)
       UNION ALL
       SELECT (SELECT m.provider FROM audit_provider_minutes m
                WHERE m.organization_id = $1 AND m.provider > n.provider AND m.day >= (SELECT first_day FROM head)
                ORDER BY m.provider LIMIT 1)
         FROM names n WHERE n.provider IS NOT NULL)
     (SELECT provider FROM names WHERE provider IS NOT NULL LIMIT ${limit}::bigint + 1)
     UNION SELECT provider FROM (${recent}) AS recent`,
    values.all,
    searcher,
  );
  const chosen =
    names.length <= most
      ? names
      : await database.search<{ provider: string }>(
          `SELECT provider FROM (
             SELECT provider, newest_ms FROM audit_provider_minutes
              WHERE organization_id = $1 AND day >= ${FIRST_DAY}
             UNION ALL ${recent}) AS found
            GROUP BY provider ORDER BY max(newest_ms) DESC LIMIT ${limit}`,
          values.all,
          searcher,
        );
  return new Set(chosen.flatMap(({ provider }) => providerOf(provider) ?? []));
}
