/** Values of the whole deployment: the secret, the copy of the catalog, and the state of a demo. */
import { randomBytes } from "node:crypto";
import type { CatalogCopy } from "../../catalog/source.ts";
import { nextReset } from "../../demo/limits.ts";
import type { EngineDemo, EngineParts } from "../../engine.ts";
import type { Database } from "./database.ts";
import { withLease } from "./leases.ts";
import { fromText, toText } from "./text.ts";

/** The name of the key that signs checkpoints. */
export const LOG_KEY = "log_key";

/** The name of the mark of a move that is unfinished; its value identifies the source. */
export const MOVE = "move";

const SECRET_BYTES = 32;

/** The tables that the reset of a demo does not empty. */
const KEPT_TABLES = ["schema_migrations", "leases", "deployment", "audit_partitions"];

/** The secret that signs tokens: the first server generates it, and all servers share it. */
export function sharedSecret(database: Database): Promise<string> {
  return firstValue(database, "secret", randomBytes(SECRET_BYTES).toString("base64url"));
}

/** Keeps a copy of the catalog, with which every server can start. */
export function catalogCopy(database: Database): CatalogCopy {
  return {
    read: () => readValue(database, "catalog"),
    write: (text) => writeValue(database, "catalog", text),
    once: async (forMs, work) =>
      (await withLease(database, "catalog", { forMs, isKept: true }, async () => {
        await work();
        return true;
      })) ?? false,
  };
}

/**
 * Prepares the tables for a demo: empties them if they belong to a demo whose reset is due. If the deployment is
 * not a demo, the mark of a demo is removed: from then on the database has real data.
 */
export async function prepareDemo(
  database: Database,
  { config, now }: Pick<EngineParts, "config" | "now">,
): Promise<EngineDemo | undefined> {
  if (!config.demo) {
    await removeValue(database, "demo");
    return undefined;
  }
  return {
    found: await findDemo(database, now()),
    markSeeded: (seededAt) => writeValue(database, "demo", String(seededAt)),
  };
}

async function findDemo(database: Database, now: number): Promise<EngineDemo["found"]> {
  const mark = await readValue(database, "demo");
  const [state] = await database.query<{ used: boolean }>(
    "SELECT EXISTS (SELECT FROM organizations) AS used",
  );
  if (mark === undefined && state?.used) return "foreign";
  const seededAt = mark ? Number(mark) : undefined;
  if (seededAt !== undefined && state?.used && now < nextReset(seededAt)) return { seededAt };
  await writeValue(database, "demo", ""); // marks the wipe and the seeding as unfinished
  await emptyTables(database);
  // The new logs are others than those that the key has signed.
  await removeValue(database, LOG_KEY);
  return "empty";
}

async function emptyTables(database: Database): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `SELECT format('%I', c.relname) AS name
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> ALL ($1)`,
    [KEPT_TABLES],
  );
  await database.run(`TRUNCATE ${tables.map(({ name }) => name).join(", ")}`);
}

/** A value of the deployment. */
export async function readValue(database: Database, name: string): Promise<string | undefined> {
  const [row] = await database.query<{ value: string }>(
    "SELECT value FROM deployment WHERE name = $1",
    [name],
  );
  return row && fromText(row.value);
}

/** Sets a value of the deployment. */
export async function writeValue(database: Database, name: string, value: string): Promise<void> {
  await database.run(
    `INSERT INTO deployment (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [name, toText(value)],
  );
}

/** Sets a value unless it is set; returns the value of the server that was first, which all servers share. */
export async function firstValue(database: Database, name: string, value: string): Promise<string> {
  await database.run(
    "INSERT INTO deployment (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
    [name, toText(value)],
  );
  return (await readValue(database, name)) ?? value;
}

/** Removes a value of the deployment. */
export async function removeValue(database: Database, name: string): Promise<void> {
  await database.run("DELETE FROM deployment WHERE name = $1", [name]);
}
