/** Takes the data of another engine into a database. */
import type { EngineMove, OrganizationRecords } from "../../engine.ts";
import { insertEntries } from "./activity.ts";
import { appendEvents } from "./audit/append.ts";
import { beginLoad, finishLoad, loadedEvent, storedLines } from "./audit/load.ts";
import { Partitions } from "./audit/partitions.ts";
import { numberFrom, type Database } from "./database.ts";
import { LOG_KEY, MOVE, readValue, removeValue, writeValue } from "./deployment.ts";
import { addKey } from "./keys.ts";
import { toText } from "./text.ts";
import { addUser } from "./users.ts";

/**
 * Opens the part of the engine that takes the data of another engine.
 *
 * @throws Error when an earlier move into the database is unfinished, unless a move opens it
 */
export async function openMove(database: Database, isMove: boolean): Promise<EngineMove> {
  const unfinished = await readValue(database, MOVE);
  if (unfinished !== undefined && !isMove) {
    const wayOut = 'run the same "signalbox move" again, or give an empty database';
    throw new Error(`DATABASE_URL: the database holds an unfinished move: ${wayOut}`);
  }
  const partitions = new Partitions(database);
  let written: Promise<void> = Promise.resolve();
  return {
    unfinished,
    others: () => countOthers(database),
    async begin(source) {
      await writeValue(database, MOVE, source);
      await beginLoad(database);
    },
    lines: (organization) => storedLines(database, organization),
    organization: (records) => replaceRecords(database, records),
    async activity(organization, entries) {
      await database.transaction((transaction) =>
        insertEntries(transaction, organization, entries),
      );
    },
    events(_, lines) {
      // Prepared while the database stores the previous events. After a failure nothing more is stored, so the
      // stored events are always the first ones of the source.
      const events = lines.map(loadedEvent);
      written = written.then(async () => {
        await partitions.ensure([...new Set(events.map(({ day }) => day))]);
        await appendEvents(database, events, true); // the end of the move waits for the disk
      });
      return written;
    },
    build: () => finishLoad(database),
    secret: (secret) => writeValue(database, "secret", secret),
    logKey: () => readValue(database, LOG_KEY),
    takeLogKey: (pem) => writeValue(database, LOG_KEY, pem),
    finish: () => removeValue(database, MOVE),
  };
}

/** Counts the processes whose connections have the program's name, apart from this process's own name. */
function countOthers(database: Database): Promise<number> {
  return numberFrom(
    database,
    `SELECT count(DISTINCT (application_name, client_addr)) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'signalbox%'
        AND application_name <> current_setting('application_name')`,
  );
}

function replaceRecords(
  database: Database,
  { organization, users, keys }: OrganizationRecords,
): Promise<void> {
  const { id, name, created_at, updated_at } = organization;
  return database.transaction(async (transaction) => {
    await transaction.run(
      `INSERT INTO organizations (id, name, created_at, updated_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, created_at = excluded.created_at,
                                      updated_at = excluded.updated_at`,
      [id, toText(name), created_at, updated_at],
    );
    for (const table of ["users", "api_keys"]) {
      await transaction.run(`DELETE FROM ${table} WHERE organization_id = $1`, [id]);
    }
    for (const user of users) await addUser(transaction, user);
    for (const key of keys) await addKey(transaction, key);
  });
}
