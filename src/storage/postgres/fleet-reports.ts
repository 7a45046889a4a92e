/**
 * Writes the reports of runtimes in groups. All reports of an organization are numbered by its row in `fleets`. So
 * they have one order over all servers, and a later report never has an earlier `last_seen`.
 */
import { labelLength } from "../../core/labels.ts";
import type { Quota } from "../../core/quota.ts";
import type { Heartbeat } from "../../fleet/schema.ts";
import type { Kept } from "../../fleet/store.ts";
import type { Database, Statements } from "./database.ts";
import { GroupQueue } from "./group-queue.ts";
import { fromText, SEPARATOR, toText } from "./text.ts";

const MOST_AT_ONCE = 500;

interface Report {
  readonly heartbeat: Heartbeat;
  readonly at: number;
  readonly kept: Kept;
  readonly quota: Quota | undefined;
  /** Checked with the length of all labels. */
  readonly labelQuota: Quota | undefined;
}

/** The texts that a report may leave out; like the labels, an absent field keeps its value. */
const FIELDS = ["hostname", "os", "version", "policy_version"] as const;

/** The merged reports of one runtime in a group. */
interface Merged {
  readonly fields: Heartbeat;
  /** The newest time of the runtime's reports in the group. */
  readonly at: number;
  /** The position of its last report in the group, counted from 1. */
  readonly place: number;
}

/** The outcome of a group of reports. */
interface Outcome {
  /** The names of runtimes that were new. */
  readonly added: ReadonlySet<string>;
  readonly refused: ReadonlyMap<Report, unknown>;
}

/** Writes reports in their order of arrival. */
export class FleetReports {
  readonly #database: Database;
  readonly #queue = new GroupQueue<Report>(
    (organization, reports) => this.#write(organization, reports),
    MOST_AT_ONCE,
  );

  constructor(database: Database) {
    this.#database = database;
  }

  report(organization: string, report: Report): void {
    this.#queue.add(organization, report);
  }

  /** Resolves when all given reports are written. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  async #write(organization: string, reports: readonly Report[]): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = await this.#store(organization, reports);
    } catch (error) {
      for (const { kept } of reports) kept(error);
      return;
    }
    const isNew = new Set(outcome.added);
    for (const report of reports) {
      const refusal = outcome.refused.get(report);
      if (refusal !== undefined) report.kept(refusal);
      else report.kept(undefined, isNew.delete(report.heartbeat.name));
    }
  }

  async #store(organization: string, reports: readonly Report[]): Promise<Outcome> {
    const values = upsertValues(organization, reports);
    const stored = await this.#database.run(UPSERT_KNOWN, values, "reports");
    if (stored > 0) return { added: new Set(), refused: new Map() };
    return this.#database.transaction((transaction) =>
      storeWithNew(transaction, organization, reports),
    );
  }
}

/** Locks the fleet of an organization: no reports are written until the transaction ends. */
export async function lockFleet(transaction: Statements, organization: string): Promise<void> {
  await transaction.query(
    "SELECT organization_id FROM fleets WHERE organization_id = $1 FOR UPDATE",
    [organization],
  );
}

async function storeWithNew(
  transaction: Statements,
  organization: string,
  reports: readonly Report[],
): Promise<Outcome> {
  await transaction.run(
    `INSERT INTO fleets (organization_id, last_report, last_seen, seen_before) VALUES ($1, 0, 0, 0)
     ON CONFLICT (organization_id) DO NOTHING`,
    [organization],
  );
  await lockFleet(transaction, organization);
  const names = new Set(reports.map(({ heartbeat }) => heartbeat.name));
  const lengths = await labelLengths(transaction, organization, [...names]);
  const [fleet] = await transaction.query<{ runtimes: number; length: number }>(
    `SELECT count(*) AS runtimes, coalesce(sum(label_length), 0) AS length FROM runtimes
      WHERE organization_id = $1`,
    [organization],
  );
  const { runtimes = 0 } = fleet ?? {};
  let { length: used = 0 } = fleet ?? {};
  const added = new Set<string>();
  const refused = new Map<Report, unknown>();
  for (const report of reports) {
    const { name, labels } = report.heartbeat;
    const before = lengths.get(name);
    const length = labels === undefined ? (before ?? 0) : labelLength(labels);
    const growth = length - (before ?? 0);
    const refusal =
      (before === undefined ? report.quota?.refusal(runtimes + added.size) : undefined) ??
      (growth > 0 ? report.labelQuota?.refusal(used + growth - 1) : undefined);
    if (refusal !== undefined) {
      refused.set(report, refusal);
      continue;
    }
    if (before === undefined) added.add(name);
    lengths.set(name, length);
    used += growth;
  }
  const stored = reports.filter((report) => !refused.has(report));
  if (stored.length > 0) await transaction.run(UPSERT, upsertValues(organization, stored));
  return { added, refused };
}

/** The lengths of the labels of known runtimes, by name. */
async function labelLengths(
  transaction: Statements,
  organization: string,
  names: readonly string[],
): Promise<Map<string, number>> {
  const rows = await transaction.query<{ name: string; length: number }>(
    "SELECT name, label_length AS length FROM runtimes WHERE organization_id = $1 AND name = ANY($2)",
    [organization, names.map(toText)],
    "label-lengths",
  );
  return new Map(rows.map(({ name, length }) => [fromText(name), length]));
}

/** Merges the reports of each runtime. The times of successive reports never go backwards. */
function mergedReports(reports: readonly Report[]): readonly Merged[] {
  const merged = new Map<string, Merged>();
  let latest = -Infinity;
  reports.forEach(({ heartbeat, at }, index) => {
    latest = Math.max(latest, at);
    const before = merged.get(heartbeat.name)?.fields;
    const fields = { ...before, ...givenOf(heartbeat) };
    merged.set(heartbeat.name, { fields, at: latest, place: index + 1 });
  });
  return [...merged.values()];
}

function givenOf(heartbeat: Heartbeat): Heartbeat {
  const given = Object.entries(heartbeat).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Heartbeat;
}

function upsertValues(organization: string, reports: readonly Report[]): readonly unknown[] {
  const rows = mergedReports(reports);
  const column = (field: (typeof FIELDS)[number]): readonly (string | null)[] =>
    rows.map(({ fields }) => {
      const value = fields[field];
      return value === undefined ? null : toText(value);
    });
  return [
    ...[organization, reports.length, rows.reduce((most, { at }) => Math.max(most, at), 0)],
    rows.map(({ fields }) => toText(fields.name)),
    ...FIELDS.map(column),
    rows.map(({ fields: { labels } }) => (labels === undefined ? null : JSON.stringify(labels))),
    rows.map(({ at }) => at),
    rows.map(({ place }) => place),
    rows.map(({ fields }) =>
      [fields.name, ...FIELDS.map((field) => fields[field] ?? "")]
        .map((text) => toText(text.toLowerCase()))
        .join(SEPARATOR),
    ),
    rows.map(({ fields: { labels } }) => labelLength(labels)),
  ];
}

/** A part of the searched text: the given value, or the stored value if none is given. */
function searchedPart(field: string, index: number): string {
  const part = (row: string): string => `split_part(${row}.search, '${SEPARATOR}', ${index + 2})`;
  return `CASE WHEN excluded.${field} IS NULL THEN ${part("known")} ELSE ${part("excluded")} END`;
}

const upsert = (condition: string): string => `
  WITH fleet AS (
    UPDATE fleets SET last_report = last_report + $2, seen_before = last_seen,
                      last_seen = greatest(last_seen, $3)
     WHERE organization_id = $1 ${condition}
    RETURNING last_report - $2 AS reports, seen_before
  )
  INSERT INTO runtimes AS known (organization_id, name, ${FIELDS.join(", ")}, labels, label_length, last_seen, report, search)
  SELECT $1, name, ${FIELDS.join(", ")}, labels, label_length, greatest(at, seen_before), reports + place, search
    FROM fleet, unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::jsonb[],
                       $10::bigint[], $11::bigint[], $12::text[], $13::integer[])
                AS given (name, ${FIELDS.join(", ")}, labels, at, place, search, label_length)
  ON CONFLICT (organization_id, name) DO UPDATE SET
    ${FIELDS.map((field) => `${field} = coalesce(excluded.${field}, known.${field})`).join(", ")},
    labels = coalesce(excluded.labels, known.labels),
    label_length = CASE WHEN excluded.labels IS NULL THEN known.label_length ELSE excluded.label_length END,
    last_seen = excluded.last_seen, report = excluded.report,
    search = split_part(excluded.search, '${SEPARATOR}', 1)
             || ${FIELDS.map((field, index) => `'${SEPARATOR}' || ${searchedPart(field, index)}`).join(" || ")}`;

const UPSERT = upsert("");
/**
 * Writes the reports only if all of the runtimes are known and no labels grow, so that no quota applies. A crash of
 * the database may lose such reports, since runtimes repeat them.
 */
const UPSERT_KNOWN = upsert(
  `AND (SELECT count(*) FROM unnest($4::text[], $13::integer[]) AS given (name, label_length)
           JOIN runtimes known ON known.organization_id = $1 AND known.name = given.name
                              AND known.label_length >= given.label_length) = cardinality($4::text[])
   AND set_config('synchronous_commit', 'off', true) IS NOT NULL`,
);
