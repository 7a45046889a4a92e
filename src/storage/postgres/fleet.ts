import { BUCKETS } from "../../core/assigned-version.ts";
import type { Expected, Selector } from "../../core/assignment.ts";
import { labelOf, sortedLabels, type Labels } from "../../core/labels.ts";
import type { Log } from "../../core/log.ts";
import { Turns, type Asker } from "../../core/scheduling/turns.ts";
import { IDLE_MS, ONLINE_MS } from "../../fleet/status.ts";
import type { FleetCounts, FleetQuery, FleetStore } from "../../fleet/store.ts";
import type { PolicyCount, StoredRuntime } from "../../fleet/store.ts";
import { CoalescedReads } from "./coalesced.ts";
import type { Database } from "./database.ts";
import { lockFleet, type FleetReports } from "./fleet-reports.ts";
import { forgetSilent } from "./fleet-retention.ts";
import { ListRoom, type Slice } from "./listed-runtimes.ts";
import { byOrganization } from "./searches.ts";
import type { Session } from "./session.ts";
import { fromText, SEPARATOR, toText } from "./text.ts";
import { Values } from "./values.ts";

interface Row {
  readonly name: string;
  readonly hostname: string | null;
  readonly os: string | null;
  readonly version: string | null;
  readonly policy_version: string | null;
  readonly labels: Labels | null;
  readonly last_seen: number;
}

const COLUMNS = "name, hostname, os, version, policy_version, labels, last_seen";
const NEWEST_FIRST = "ORDER BY last_seen DESC, report DESC";

/** The number of rows of a list that are read at a time. */
const SLICE = 500;

/**
 * Slices of lists wait for each other: with some lists of 11,000 runtimes under way, those of one client took every
 * connection, and each other request waited for more than a second.
 */
const SLICES = { atOnce: 4, atOnceOfOne: 2, atOnceOfGroups: [2], waiting: Infinity } as const;

/** Keeps the fleet in the table `runtimes`. */
export function fleetOver(
  database: Database,
  session: Session,
  reports: FleetReports,
  log: Log,
): FleetStore {
  const slices = new Turns(SLICES);
  const room = new ListRoom();
  const labels = new CoalescedReads(async (keys) => {
    const pairs = keys.map((key) => key.split(SEPARATOR));
    const rows = await database.query<{ key: string; labels: Labels | null }>(
      `SELECT organization_id || '${SEPARATOR}' || name AS key, labels
         FROM unnest($1::text[], $2::text[]) AS wanted (organization_id, name)
         JOIN runtimes USING (organization_id, name)`,
      [pairs.map(([organization]) => organization), pairs.map(([, name]) => name)],
      "labels-by-name",
    );
    return new Map(rows.map((row) => [row.key, row.labels]));
  });

  async function* inSlices(
    organization: string,
    listed: Slice[],
    asker: Asker,
  ): AsyncGenerator<readonly StoredRuntime[], void> {
    for (const { names, seen } of room.take(asker.party, listed)) {
      const read = () =>
        database.query<Row>(
          `SELECT name, hostname, os, version, policy_version, labels, seen AS last_seen
             FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS listed (name, seen, place)
             JOIN runtimes USING (name) WHERE organization_id = $1 ORDER BY place`,
          [organization, names, seen],
          "runtimes-by-name",
        );
      const rows = await slices.run(asker, read);
      yield rows.map(runtimeOf);
    }
  }

  return {
    heartbeat: (organization, heartbeat, at, kept, quota, labelQuota) =>
      reports.report(organization, { heartbeat, at, kept, quota, labelQuota }),

    async page(organization, query, limit, offset, searcher) {
      const values = new Values(organization);
      const where = conditionOf(query, values);
      const [count] = await database.search<{ total: number }>(
        `SELECT count(*) AS total FROM runtimes WHERE ${where}`,
        values.all,
        searcher,
      );
      const total = count?.total ?? 0;
      if (offset >= total) return { runtimes: [], total };
      const part = `LIMIT ${values.add(limit === Infinity ? null : limit)} OFFSET ${values.add(offset)}`;
      if (limit <= SLICE) {
        const text = `SELECT ${COLUMNS} FROM runtimes WHERE ${where} ${NEWEST_FIRST} ${part}`;
        const rows = await database.search<Row>(text, values.all, searcher);
        return { runtimes: rows.map(runtimeOf), total };
      }
      // In slices, as a list: 10,000 rows at a time held up the event loop for more than 100 ms.
      const listed = await database.search<Slice>(namesOf(where, part), values.all, searcher);
      const slices = inSlices(organization, [...listed], byOrganization(organization, searcher));
      const runtimes: StoredRuntime[] = [];
      for await (const slice of slices) runtimes.push(...slice);
      return { runtimes, total };
    },

    async list(organization, query, searcher) {
      const values = new Values(organization);
      const where = conditionOf(query, values);
      // Only the answer shows that the database has looked: until then, a report on another connection may overtake.
      const text = namesOf(where);
      const asker = byOrganization(organization, searcher);
      // Runtimes choose their texts: to look for a text in those of 2,000 took two seconds. So may the drift in a rollout.
      const listed = await (query.q || query.drifted
        ? database.search<Slice>(text, values.all, searcher)
        : slices.run(asker, () => database.query<Slice>(text, values.all)));
      return inSlices(organization, [...listed], asker);
    },

    // As a search: with 50,000 runtimes and a rollout of 20 stages, one client's counts took every other connection.
    async counts(organization, now, expected, searcher) {
      const values = new Values(organization, now - ONLINE_MS, now - IDLE_MS);
      const [counts] = await database.search<FleetCounts>(
        `SELECT count(*) AS total,
                count(*) FILTER (WHERE last_seen > $2) AS online,
                count(*) FILTER (WHERE last_seen <= $2 AND last_seen > $3) AS idle,
                count(*) FILTER (WHERE ${driftCondition(expected, now, values)}) AS drifted
           FROM runtimes WHERE organization_id = $1`,
        values.all,
        searcher,
      );
      return counts ?? { online: 0, idle: 0, drifted: 0, total: 0 };
    },

    async policies(organization, now, limit, searcher) {
      const rows = await database.search<PolicyCount>(
        `SELECT policy_version AS version, count(*) AS runtimes,
                count(*) FILTER (WHERE last_seen > $2) AS present
           FROM runtimes WHERE organization_id = $1 AND policy_version IS NOT NULL
          GROUP BY policy_version ORDER BY runtimes DESC, policy_version LIMIT $3`,
        [organization, now - IDLE_MS, limit],
        searcher,
      );
      return rows.map((row) => ({ ...row, version: fromText(row.version) }));
    },

    async labels(organization, name) {
      return (await labels.get(`${organization}${SEPARATOR}${toText(name)}`)) ?? undefined;
    },

    async known(organization, names) {
      const rows = await session.query<{ name: string }>(
        "SELECT name FROM runtimes WHERE organization_id = $1 AND name = ANY($2)",
        [organization, names.map(toText)],
        "known-runtimes",
      );
      return rows.map(({ name }) => fromText(name));
    },

    forget: (organization, name) =>
      session.change(async (transaction) => {
        await lockFleet(transaction, organization);
        const forgotten = await transaction.run(
          "DELETE FROM runtimes WHERE organization_id = $1 AND name = $2",
          [organization, toText(name)],
        );
        return forgotten === 1;
      }),

    async forgetSilent(before) {
      await reports.idle();
      return forgetSilent(database, log, before);
    },
  };
}

/** Counts the runtimes of all organizations; `now` decides who is online. */
export async function fleetTotals(
  database: Database,
  now: number,
): Promise<Pick<FleetCounts, "online" | "total">> {
  const [counts] = await database.query<Pick<FleetCounts, "online" | "total">>(
    `SELECT count(*) AS total, count(*) FILTER (WHERE last_seen > $1) AS online FROM runtimes`,
    [now - ONLINE_MS],
  );
  return counts ?? { online: 0, total: 0 };
}

/** Selects the slices of a list; `part` limits it. */
function namesOf(where: string, part = ""): string {
  return `SELECT array_agg(name ORDER BY place)::text AS names, array_agg(last_seen ORDER BY place)::text AS seen
            FROM (SELECT name, last_seen, row_number() OVER (${NEWEST_FIRST}) - 1 AS place FROM runtimes
                   WHERE ${where} ${NEWEST_FIRST} ${part}) AS listed GROUP BY place / ${SLICE} ORDER BY place / ${SLICE}`;
}

/** A query as a condition of SQL, with the same results as `fitting` of the fleet. */
function conditionOf(query: FleetQuery, values: Values): string {
  const parts = ["organization_id = $1"];
  const { name, status, policy_version: version, label, drifted, q, now } = query;
  if (name) parts.push(`name = ${values.add(toText(name))}`);
  if (status !== undefined) {
    if (status !== "offline") {
      parts.push(`last_seen > ${values.add(now - (status === "online" ? ONLINE_MS : IDLE_MS))}`);
    }
    if (status !== "online") {
      parts.push(`last_seen <= ${values.add(now - (status === "idle" ? ONLINE_MS : IDLE_MS))}`);
    }
  }
  if (version) parts.push(`policy_version = ${values.add(toText(version))}`);
  for (const wanted of label ?? []) {
    const labels = JSON.stringify(labelOf(wanted));
    // A label has no control characters, and `jsonb` cannot contain U+0000.
    parts.push(wanted.includes("\0") ? "false" : `labels @> ${values.add(labels)}::jsonb`);
  }
  if (drifted) {
    const isDrifted = driftCondition(query, now, values);
    parts.push(drifted === "true" ? isDrifted : `(${isDrifted}) IS NOT TRUE`);
  }
  if (q) parts.push(`strpos(search, ${values.add(toText(q.toLowerCase()))}) > 0`);
  return parts.join(" AND ");
}

/** The drift of a runtime as a condition of SQL, with the same results as `isDrifted`. */
function driftCondition({ active, rollout }: Expected, now: number, values: Values): string {
  if (active === "") return "false";
  const stages = rollout?.stages.map((stage) => selectorCondition(stage, values)) ?? [];
  const assigned =
    rollout && stages.length > 0
      ? `CASE WHEN ${selectedBy(rollout.id, stages, values)} THEN ${values.add(toText(rollout.version))} ELSE ${values.add(toText(active))} END`
      : values.add(toText(active));
  return `last_seen > ${values.add(now - IDLE_MS)} AND coalesce(policy_version, '') NOT IN ('', ${assigned})`;
}

/**
 * Whether one of some stages selects a runtime. The inner query computes its bucket once for all of them, since a hash takes
 * longer than all other parts; OFFSET keeps the database from copying it into each condition.
 */
function selectedBy(rollout: string, stages: readonly string[], values: Values): string {
  // The hash of `bucketOf`, to which an encoded character counts as "?".
  const stable = `regexp_replace(name, '\uFDE0[\uFDD0-\uFDDF]{4}', '?', 'g')`;
  const digest = `encode(sha256(convert_to(${values.add(`${rollout}\n`)}::text || ${stable}, 'UTF8')), 'hex')`;
  const bucket = `('x' || left(${digest}, 8))::bit(32)::bigint % ${BUCKETS}`;
  return `EXISTS (SELECT FROM (SELECT ${bucket} AS bucket OFFSET 0) AS own WHERE ${stages.join(" OR ")})`;
}

/** A stage of a rollout as a condition of SQL, with the same results as `isSelected`. */
function selectorCondition({ percent = 100, labels, names }: Selector, values: Values): string {
  const parts = ["true"];
  if (names) parts.push(`name = ANY (${values.add([...names].map(toText))}::text[])`);
  if (labels) parts.push(`coalesce(labels @> ${values.add(JSON.stringify(labels))}::jsonb, false)`);
  if (percent < 100) parts.push(`bucket < ${(percent * BUCKETS) / 100}`);
  return `(${parts.join(" AND ")})`;
}

function runtimeOf(row: Row): StoredRuntime {
  const { hostname, os, version, policy_version, labels } = row;
  return {
    name: fromText(row.name),
    ...(hostname !== null && { hostname: fromText(hostname) }),
    ...(os !== null && { os: fromText(os) }),
    ...(version !== null && { version: fromText(version) }),
    ...(policy_version !== null && { policy_version: fromText(policy_version) }),
    ...(labels !== null && { labels: sortedLabels(labels) }),
    last_seen: row.last_seen,
  };
}
