/** Checks the logs of a database against signed checkpoints. */
import { reportKept, StoredCheckpoints, type ProofEvidence } from "../../../proof/evidence.ts";
import { LOGS, type NamedLog } from "../../../proof/log-name.ts";
import { HASH_BYTES } from "../../../proof/merkle.ts";
import type { StoredLog, TakeLogLine } from "../../../proof/stored-log.ts";
import { TILE_WIDTH } from "../../../proof/tiles.ts";
import type { Database, Statements } from "../database.ts";
import type { DatabaseReport } from "../database-report.ts";
import type { LogRow } from "./log-rows.ts";
import { TreeRows } from "./tree-rows.ts";

const PORTION_ROWS = 250;

/** The rows of each log, in their order. Two rows of one number are a forgery, and stand side by side. */
const ROWS = {
  audit: `SELECT seq AS row, line FROM audit_events WHERE organization_id = $1 ORDER BY seq, day`,
  activity: `SELECT number AS row, entry AS line FROM activity WHERE organization_id = $1 ORDER BY number`,
} as const;

/** Checks both logs of organizations, all as of one moment: servers may go on meanwhile. */
export async function verifyProofs(
  database: Database,
  ids: readonly string[],
  evidence: ProofEvidence,
  report: DatabaseReport,
): Promise<void> {
  reportKept(evidence, ids, report, "organizations");
  const transaction = await database.begin();
  try {
    await transaction.run(
      // Rows are read in the order of an index: to sort them all first would take too long.
      `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
       SET LOCAL enable_sort = off; SET LOCAL cursor_tuple_fraction = 0.0001`,
    );
    for (const organization of ids) {
      for (const log of LOGS) await verifyLog(transaction, { organization, log }, evidence, report);
    }
  } finally {
    await transaction.rollback();
  }
}

async function verifyLog(
  statements: Statements,
  named: NamedLog,
  evidence: ProofEvidence,
  report: DatabaseReport,
): Promise<void> {
  const place = (table: string): string => `${table} of "${named.organization}"`;
  const stored = new StoredCheckpoints(named, evidence, report, place("log_checkpoints"));
  const notes = `SELECT number AS row, note AS line FROM log_checkpoints
                  WHERE organization_id = $1 AND log = $2 ORDER BY number`;
  await eachRow(statements, notes, [named.organization, named.log], ({ row, line }) =>
    stored.add(`${named.log} ${row}`, () => line),
  );
  stored.end();
  const rows = place(named.log === "audit" ? "audit_events" : "activity");
  const tree = new TreeRows(statements, named);
  const open = async (first: number): Promise<StoredLog> => {
    const start = await tree.rowOf(first);
    return {
      ...{ first, unit: "row", directory: rows },
      tileFile: (level) => `${place("log_tiles")}, ${named.log}, level ${level}`,
      readTile: (level, index) => tree.readTile(level, index),
      readLines: (take: TakeLogLine) =>
        eachRow(statements, ROWS[named.log], [named.organization], ({ row, line }) => {
          if (row >= start) take(Buffer.from(line), rows, row);
        }),
    };
  };
  const checked = await stored.check(open);
  report.logs.push(checked);
  await verifyEarlier(statements, named, await tree.rowOf(checked.first), (row) =>
    report.problem(rows, `row ${row}: is not the event that was signed`),
  );
}

/**
 * Checks the rows before the first event that must be there. Retention removes days of arrival, and some events of
 * the next day may have been stored between those of a removed one.
 */
async function verifyEarlier(
  statements: Statements,
  { organization, log }: NamedLog,
  start: number,
  take: (row: number) => void,
): Promise<void> {
  const leaf = "r.first_leaf + e.row - r.first_row";
  const text = `
    SELECT e.row, CASE WHEN substring(t.hashes FROM ((${leaf}) % ${TILE_WIDTH} * ${HASH_BYTES} + 1)::integer FOR ${HASH_BYTES})
                  = sha256('\\x00'::bytea || sha256(convert_to(e.line, 'UTF8'))) THEN 'same' END AS line
      FROM (${ROWS[log]}) AS e
      LEFT JOIN LATERAL (SELECT first_row, first_leaf FROM log_runs
                          WHERE organization_id = $1 AND log = $2 AND first_row <= e.row
                          ORDER BY first_row DESC LIMIT 1) AS r ON true
      LEFT JOIN log_tiles t ON t.organization_id = $1 AND t.log = $2 AND t.level = 0 AND t.tile = (${leaf}) / ${TILE_WIDTH}
     WHERE e.row < $3`;
  await eachRow(statements, text, [organization, log, start], ({ row, line }) => {
    if (line !== "same") take(row);
  });
}

/** Reads rows in portions, by a cursor: a plan over many partitions is made once. */
async function eachRow(
  statements: Statements,
  text: string,
  values: readonly unknown[],
  take: (row: LogRow) => void,
): Promise<void> {
  await statements.run(`DECLARE log_rows NO SCROLL CURSOR FOR ${text}`, values);
  let isMore = true;
  while (isMore) {
    const rows = await statements.query<LogRow>(`FETCH ${PORTION_ROWS} FROM log_rows`);
    for (const row of rows) take(row);
    isMore = rows.length > 0;
  }
  await statements.run("CLOSE log_rows");
}
