/**
 * Checks properties that the constraints of the database cannot: the counters agree with the events, every event
 * has its columns, its row number and its id, and every document can be read. Nothing is changed. Each statement
 * compares at one moment, so servers may keep running.
 */
import { createHash } from "node:crypto";
import { activityEntry, type ActivityEntry } from "../../activity/schema.ts";
import type { Schema } from "../../core/schema.ts";
import { validate } from "../../core/validate.ts";
import { storedKey } from "../../keys/schema.ts";
import { isSlug } from "../../organizations/slug.ts";
import { rollout } from "../../rollouts/schema.ts";
import { storedUser } from "../../users/schema.ts";
import type { ProofEvidence } from "../../proof/evidence.ts";
import { verifyAudit } from "./audit/verify.ts";
import { DatabaseReport, type OrganizationCheck } from "./database-report.ts";
import type { Database } from "./database.ts";
import { MOVE, readValue } from "./deployment.ts";
import { verifyProofs } from "./proof/verify.ts";
import { fromText } from "./text.ts";

const PORTION_ROWS = 1_000;

/**
 * Checks a database with the tables of this version.
 *
 * @param evidence the key and the checkpoints to check the logs against; without them this is not done
 */
export async function verifyDatabase(
  database: Database,
  evidence?: ProofEvidence,
): Promise<DatabaseReport> {
  const report = new DatabaseReport();
  const organizations = await database.query<{ id: string }>("SELECT id FROM organizations");
  report.organizations = organizations.length;
  await verifyPartitions(database, report);
  await verifyUnfinished(database, report);
  for (const { id } of organizations) {
    if (!isSlug(id)) report.problem("organizations", `"${id}": not an id of an organization`);
    const check = { database, id, report };
    await verifyDocuments(check);
    await verifyPolicies(check);
    await verifyAudit(check);
  }
  const ids = organizations.map(({ id }) => id);
  if (evidence) await verifyProofs(database, ids, evidence, report);
  return report;
}

async function verifyUnfinished(database: Database, report: DatabaseReport): Promise<void> {
  if ((await readValue(database, MOVE)) === undefined) return;
  report.problem("deployment", "a move into this database is not finished");
}

/** Checks that every day with events has an attached partition, and that no other partition is attached. */
async function verifyPartitions(database: Database, report: DatabaseReport): Promise<void> {
  const rows = await database.query<{ day: string | null; name: string | null }>(
    `SELECT p.day::text AS day, c.name
       FROM (SELECT day, 'audit_events_' || to_char(day, 'YYYYMMDD') AS name FROM audit_partitions
             UNION SELECT day, 'audit_events_' || to_char(day, 'YYYYMMDD') FROM audit_days) AS p
       FULL JOIN (SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                   WHERE i.inhparent = 'audit_events'::regclass) AS c USING (name)
      WHERE p.day IS NULL OR c.name IS NULL`,
  );
  for (const { day, name } of rows) {
    const problem =
      name === null ? `${day}: has no partition` : `${name}: no day has this partition`;
    report.problem("audit_partitions", problem);
  }
}

interface DocumentRow {
  readonly number: number;
  readonly text: string;
}

/** Checks the users, keys, rollouts and activity entries, which are stored as JSON. */
async function verifyDocuments(check: OrganizationCheck): Promise<void> {
  const { id, report } = check;
  const tables: readonly (readonly [table: string, column: string, schema: Schema])[] = [
    ["users", "document", storedUser],
    ["api_keys", "document", storedKey],
    ["rollouts", "document", rollout],
    ["activity", "entry", activityEntry],
  ];
  for (const [table, column, schema] of tables) {
    for await (const { number, text } of rowsOf(check, table, column)) {
      const fault = faultOf(schema, text, id);
      if (fault) report.problem(table, `number ${number} of "${id}": ${fault}`);
    }
  }
}

/** The rows of an organization in a table, portion by portion. */
async function* rowsOf(
  { database, id }: OrganizationCheck,
  table: string,
  column: string,
): AsyncGenerator<DocumentRow> {
  let rows: readonly DocumentRow[];
  let last = 0;
  do {
    rows = await database.search<DocumentRow>(
      `SELECT number, ${column} AS text FROM ${table}
        WHERE organization_id = $1 AND number > $2 ORDER BY number LIMIT ${PORTION_ROWS}`,
      [id, last],
    );
    yield* rows;
    last = rows.at(-1)?.number ?? last;
  } while (rows.length === PORTION_ROWS);
}

function faultOf(schema: Schema, text: string, id: string): string | undefined {
  try {
    const read = validate(schema, JSON.parse(text)) as Partial<ActivityEntry>;
    const { organization_id: own = id } = read; // rollouts do not name their organization
    return own === id ? undefined : `belongs to "${own}"`;
  } catch (error) {
    return (error as Error).message;
  }
}

async function verifyPolicies({ database, id, report }: OrganizationCheck): Promise<void> {
  const [head] = await database.query<{ active: string; known: boolean }>(
    `SELECT active_version AS active,
            coalesce(bool_or(v.version = active_version), false) AS known
       FROM organizations LEFT JOIN policy_versions v ON v.organization_id = id
      WHERE id = $1 GROUP BY active_version`,
    [id],
  );
  if (head && head.active !== "" && !head.known) {
    report.problem(
      "organizations",
      `"${id}": active_version is "${head.active}", no version of it`,
    );
  }
  const versions = await database.search<{ version: string; yaml: string; sha256: string }>(
    "SELECT version, yaml, sha256 FROM policy_versions WHERE organization_id = $1",
    [id],
  );
  for (const { version, yaml, sha256 } of versions) {
    if (createHash("sha256").update(fromText(yaml)).digest("hex") === sha256) continue;
    report.problem("policy_versions", `"${fromText(version)}" of "${id}": has another SHA-256`);
  }
  // Older entries may have been removed by retention.
  const unrecorded = await database.search<{ version: string }>(
    `SELECT version FROM policy_versions v
      WHERE organization_id = $1
        AND updated_at >= (SELECT min(timestamp) FROM activity WHERE organization_id = $1)
        AND NOT EXISTS (SELECT FROM activity a WHERE a.organization_id = $1
          AND a.timestamp >= v.updated_at AND a.entry LIKE '%"action":"policy.publish"%'
          AND strpos(a.entry, '"id":' || to_json(v.version)::text) > 0)`,
    [id],
  );
  for (const { version } of unrecorded) {
    const problem = `no entry says who published "${fromText(version)}" of "${id}"`;
    report.note("activity", problem);
  }
}
