/** Takes the data of another engine into a database. */
import type { AuditEvent } from "../../audit/schema.ts";
import type { Clock } from "../../core/clock.ts";
import type { EngineMove, OrganizationRecords } from "../../engine.ts";
import { insertEntries } from "./activity.ts";
import { appendEvents } from "./audit/append.ts";
import { countRest } from "./audit/counting.ts";
import { Partitions } from "./audit/partitions.ts";
import { newEventOf } from "./audit/records.ts";
import { indexClosedDays } from "./audit/trigrams.ts";
import type { Database } from "./database.ts";
import { readValue, writeValue } from "./deployment.ts";
import { addKey } from "./keys.ts";
import { toText } from "./text.ts";
import { addUser } from "./users.ts";

/** The name of the mark among the values of the deployment. */
const MARK = "move";

/**
 * Opens the part of the engine that takes the data of another one.
 *
 * @throws Error when an earlier move into the database is unfinished, unless a move opens it
 */
export async function openMove(
  database: Database,
  now: Clock,
  isMove: boolean,
): Promise<EngineMove> {
  const unfinished = await readValue(database, MARK);
  if (unfinished !== undefined && !isMove) {
    const wayOut = 'run the same "signalbox move" again, or give an empty database';
    throw new Error(`DATABASE_URL: the database holds an unfinished move: ${wayOut}`);
  }
  const partitions = new Partitions(database);
  let written: Promise<void> = Promise.resolve();
  return {
    unfinished,
    others: () => countOthers(database),
    begin: (source) => writeValue(database, MARK, source),
    organization: (records) => replaceRecords(database, records),
    async activity(organization, entries) {
      await database.transaction((transaction) =>
        insertEntries(transaction, organization, entries),
      );
    },
    events(_organization, lines) {
      // Prepared while the database stores the events before. After a failure nothing more is stored, so
      // what is there is always a beginning.
      const events = lines.map((line) => {
        const text = line.toString("utf8");
        return newEventOf(JSON.parse(text) as AuditEvent, false, text);
      });
      const days = [...new Set(events.map(({ day }) => day))];
      written = written.then(async () => {
        await partitions.ensure(days);
        // Does not wait for the disk: the commit that removes the mark does, and covers those before it.
        await appendEvents(database, events, true);
      });
      return written;
    },
    secret: (secret) => writeValue(database, "secret", secret),
    async finish() {
      await database.maintain(
        "ANALYZE audit_events, audit_ids, audit_days, audit_minutes, audit_provider_minutes, activity, runtimes",
      );
      await countRest(database);
      await indexClosedDays(database, now());
      await database.run("DELETE FROM deployment WHERE name = $1", [MARK]);
    },
  };
}

/** Counts the processes whose connections have the program's name, apart from this process's own name. */
async function countOthers(database: Database): Promise<number> {
  const [found] = await database.query<{ others: number }>(
    `SELECT count(DISTINCT (application_name, client_addr)) AS others FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'signalbox%'
        AND application_name <> current_setting('application_name')`,
  );
  return found?.others ?? 0;
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
