/** Brings the tables of a database up to date at the start. A lease lets one server at a time do this. */
import { readdir, readFile } from "node:fs/promises";
import { Unavailable } from "../../core/errors.ts";
import { ROOT } from "../../core/root.ts";
import type { Database } from "./database.ts";
import { codeOf } from "./faults.ts";
import { withLease } from "./leases.ts";

// In `dist` they are copies.
const DIRECTORY = new URL("storage/postgres/migrations/", ROOT);

/** The time for which a server waits for another server's migration. */
const LEASE_MS = 60_000;
const WAIT_MS = 120_000;

const DUPLICATES = new Set(["23505", "42P07", "42710"]);

interface Migration {
  readonly number: number;
  readonly file: string;
}

/**
 * Applies the migrations that a database lacks, each in a transaction.
 *
 * @throws Error if the database belongs to another program, or to a newer version of Signalbox
 */
export async function migrate(database: Database): Promise<void> {
  const known = await migrations();
  const newest = known.at(-1)?.number ?? 0;
  if ((await appliedTo(database)) === newest) return;
  await createFirstTables(database);
  const terms = { forMs: LEASE_MS, waitMs: WAIT_MS };
  const isDone = await withLease(database, "migrations", terms, async () => {
    const applied = (await appliedTo(database)) ?? 0;
    if (applied > newest) {
      throw new Error(
        `DATABASE_URL: the database is of a newer Signalbox (migration ${applied}, this version knows ${newest}): start that version or a later one`,
      );
    }
    for (const { number, file } of known.filter((one) => one.number > applied)) {
      const text = await readFile(new URL(file, DIRECTORY), "utf8");
      await database.transaction(async (transaction) => {
        // This comes first: if this server has lost its lease, the row of the other server makes it fail here.
        await transaction.run("INSERT INTO schema_migrations (number, file) VALUES ($1, $2)", [
          number,
          file,
        ]);
        await transaction.run(text);
      });
    }
    return true;
  });
  if (!isDone) {
    throw new Unavailable("Another server has been migrating the database for long: try again", 5);
  }
}

/**
 * Checks that a database has the tables of this version; changes nothing.
 *
 * @throws Error if a server must migrate the database first, or if it belongs to another program
 */
export async function requireCurrentTables(database: Database): Promise<void> {
  const newest = (await migrations()).at(-1)?.number;
  if ((await appliedTo(database)) === newest) return;
  throw new Error("DATABASE_URL: the database has no tables of this version: start a server on it");
}

async function migrations(): Promise<readonly Migration[]> {
  const files = (await readdir(DIRECTORY)).filter((file) => file.endsWith(".sql")).sort();
  return files.map((file) => ({ number: Number.parseInt(file, 10), file }));
}

/** The number of the last migration; `undefined` in an empty database. */
async function appliedTo(database: Database): Promise<number | undefined> {
  const [found] = await database.query<{ ours: boolean; tables: number }>(
    `WITH known AS (SELECT EXISTS (SELECT FROM pg_attribute WHERE attname = 'number'
                             AND attrelid = to_regclass('schema_migrations')) AS ours)
     SELECT ours,
            (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
                AND c.relname NOT IN ('leases', CASE WHEN ours THEN 'schema_migrations' ELSE '' END)) AS tables
       FROM known`,
  );
  if (!found?.ours) {
    if (!found?.tables) return undefined;
    throw new Error(
      "DATABASE_URL: the database holds tables of another program: give Signalbox a database of its own",
    );
  }
  const [row] = await database.query<{ number: number | null }>(
    "SELECT max(number) AS number FROM schema_migrations",
  );
  return row?.number ?? 0;
}

/** Creates the tables that migrations need. Several servers may do this at once. */
async function createFirstTables(database: Database): Promise<void> {
  const create = (): Promise<number> =>
    database.run(
      `CREATE TABLE IF NOT EXISTS leases (
         name text COLLATE "C" PRIMARY KEY, holder text NOT NULL, ends_at bigint NOT NULL);
       CREATE TABLE IF NOT EXISTS schema_migrations (
         number integer PRIMARY KEY, file text NOT NULL, applied_at timestamptz DEFAULT now())`,
    );
  // If two servers create a table at once, one of them fails in spite of IF NOT EXISTS.
  await create().catch((error: unknown) => {
    if (!DUPLICATES.has(codeOf(error) ?? "")) throw error;
    return create();
  });
}
