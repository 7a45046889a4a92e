/** Reads the rows of the logs that trees are over, in their order, and says how far that order is final. */
import { MINUTE_MS } from "../../../core/clock.ts";
import { Unavailable } from "../../../core/errors.ts";
import { pause, systemStopwatch } from "../../../core/timers.ts";
import type { NamedLog } from "../../../proof/log-name.ts";
import { idOfLine } from "../../../signed-logs/prove.ts";
import { eventsWithId } from "../audit/known-events.ts";
import { readPortion, type EventLine } from "../audit/portions.ts";
import { numberFrom, type Database, type Statements } from "../database.ts";

/** A row of a log: its number and its line. */
export type LogRow = EventLine;

const PORTION_ENTRIES = 1_000;
const FOUND_AT_ONCE = 100;
const ASK_AGAIN_MS = 20;

/** The last row of each log, and the last one that retention has removed. */
const ENDS = `
  SELECT o.id AS organization_id, 'audit' AS log, coalesce(h.last_seq, 0) AS last,
         (SELECT coalesce(max(d.last_seq), 0) FROM audit_days d
           WHERE d.organization_id = o.id AND d.day < h.first_day) AS removed
    FROM organizations o LEFT JOIN audit_heads h ON h.organization_id = o.id
  UNION ALL
  SELECT o.id, 'activity',
         (SELECT coalesce(max(number), 0) FROM activity a WHERE a.organization_id = o.id),
         (SELECT coalesce(min(number), 1) - 1 FROM activity a WHERE a.organization_id = o.id)
    FROM organizations o`;

/** The last row of a log, and the last one that retention has removed; 0 for none. */
export interface LogEnds {
  readonly last: number;
  readonly removed: number;
}

/** The ends of one log. */
export async function endsOf(
  statements: Statements,
  { organization, log }: NamedLog,
): Promise<LogEnds> {
  const [ends] = await statements.query<LogEnds>(
    `SELECT last, removed FROM (${ENDS}) AS ends WHERE organization_id = $1 AND log = $2`,
    [organization, log],
  );
  return ends ?? { last: 0, removed: 0 };
}

/** The keys by which a log may be due although it has not changed, each with its type byte in front. */
export interface DueKeys {
  readonly present: Buffer;
  /** If given, only a log whose last checkpoint is signed by one of these is due for the present key. */
  readonly earlier?: readonly Buffer[];
}

/** Whether `note` has a signature of a key under the name of its log: the base64 text begins with the key's id. */
const isSignedBy = (key: string): string =>
  `strpos(note, E'\\n— ' || split_part(note, E'\\n', 1) || ' ' || left(encode(substring(sha256(
     convert_to(split_part(note, E'\\n', 1) || E'\\n', 'UTF8') || ${key}) FOR 4), 'base64'), 5)) > 0`;

/** The logs that differ from their trees, or whose last checkpoint lacks the signature of the present key. */
export async function dueLogs(
  statements: Statements,
  { present, earlier }: DueKeys,
): Promise<readonly NamedLog[]> {
  return statements.query<NamedLog>(
    `SELECT e.organization_id AS organization, e.log FROM (${ENDS}) AS e
       LEFT JOIN log_trees t ON t.organization_id = e.organization_id AND t.log = e.log
      WHERE t.contradiction IS NULL
        AND (e.last <> coalesce(t.last_row, 0) OR e.last > 0 AND e.removed > coalesce(t.removed_row, 0)
          OR ($2::bytea[] IS NULL OR cardinality($2) > 0) AND EXISTS (
            SELECT FROM (SELECT note FROM log_checkpoints c WHERE c.organization_id = t.organization_id
                            AND c.log = t.log ORDER BY number DESC LIMIT 1) AS newest
             WHERE NOT ${isSignedBy("$1::bytea")}
               AND ($2 IS NULL OR EXISTS (SELECT FROM unnest($2) AS k WHERE ${isSignedBy("k")}))))`,
    [present, earlier],
  );
}

/**
 * The row up to which the order of a log is final: no earlier row can still appear. Rows of events become visible
 * in their order. Entries of activity draw their numbers before they are committed, so the transactions that
 * have begun to write entries are waited for, by their locks; writers wait for nothing.
 */
export async function finalRow(statements: Statements, { log }: NamedLog): Promise<number> {
  if (log === "audit") return Number.MAX_SAFE_INTEGER;
  const drawn = await numberFrom(statements, "SELECT last_value AS n FROM activity_number_seq");
  const until = systemStopwatch() + MINUTE_MS / 4;
  for (let writing: readonly string[] | undefined; ;) {
    const rows = await statements.query<{ id: string }>(
      `SELECT virtualtransaction AS id FROM pg_locks
        WHERE locktype = 'relation' AND relation = 'activity'::regclass AND mode = 'RowExclusiveLock'
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND granted AND pid IS DISTINCT FROM pg_backend_pid()`,
    );
    const found = rows.map(({ id }) => id);
    writing = writing?.filter((id) => found.includes(id)) ?? found;
    if (writing.length === 0) return drawn;
    if (systemStopwatch() > until) throw new Unavailable("Entries are being written: try again", 1);
    await pause(ASK_AGAIN_MS);
  }
}

/** The next rows of a log after a row and up to another one; none are left if there are none. */
export async function nextRows(
  statements: Statements,
  { organization, log }: NamedLog,
  after: number,
  upTo: number,
): Promise<readonly LogRow[]> {
  if (log === "activity") {
    return statements.query<LogRow>(
      `SELECT number AS row, entry AS line FROM activity
        WHERE organization_id = $1 AND number > $2 AND number <= $3 ORDER BY number LIMIT ${PORTION_ENTRIES}`,
      [organization, after, upTo],
    );
  }
  const days = await statements.query<{ day: string }>(
    "SELECT DISTINCT day::text AS day FROM audit_days WHERE organization_id = $1 AND last_seq > $2",
    [organization, after],
  );
  const range = { organization, days: days.map(({ day }) => day), after, upTo };
  return readPortion((...text) => statements.query(...text), range);
}

/** The first row of a log with an id. */
export async function rowWithId(
  database: Database,
  { organization, log }: NamedLog,
  id: string,
): Promise<LogRow | undefined> {
  if (log === "audit") return (await eventsWithId(database, organization, id, 1))[0];
  for (let after = 0; ;) {
    const rows = await database.search<LogRow>(
      `SELECT number AS row, entry AS line FROM activity
        WHERE organization_id = $1 AND number > $2 AND strpos(entry, $3) > 0
        ORDER BY number LIMIT ${FOUND_AT_ONCE}`,
      [organization, after, JSON.stringify(id)],
    );
    const found = rows.find(({ line }) => idOfLine(line) === id);
    if (found !== undefined || rows.length < FOUND_AT_ONCE) return found;
    after = rows.at(-1)?.row ?? after;
  }
}
