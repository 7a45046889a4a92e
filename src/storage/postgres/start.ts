/** Opens the database at the start of a server, or reports in one line why it cannot be used. */
import { ConfigError } from "../../core/config-error.ts";
import { Refusal } from "../../core/errors.ts";
import type { EngineParts } from "../../engine.ts";
import { Database } from "./database.ts";
import { codeOf, NO_CONNECTION, READ_ONLY } from "./faults.ts";
import { migrate, requireCurrentTables } from "./migrations.ts";

const LEAST_VERSION = 14;
const FOREIGN =
  "the database holds objects of another program: give Signalbox a database of its own";

/**
 * Connects, checks the database, and brings its tables up to date.
 *
 * @param isReadOnly makes connections that cannot change anything, and demands tables of this version
 * @throws ConfigError or Error naming the setting, what is wrong, and what to do
 */
export async function openDatabase(
  { config, log }: Pick<EngineParts, "config" | "log">,
  isReadOnly = false,
): Promise<Database> {
  const { databaseUrl: url, databasePoolSize: poolSize } = config;
  if (url === undefined) throw new ConfigError("DATABASE_URL: required by this engine");
  const database = await Database.load({ url, poolSize, log, isReadOnly });
  try {
    await check(database);
    await (isReadOnly ? requireCurrentTables(database) : migrate(database));
    return database;
  } catch (error) {
    await database.close();
    throw faultOf(error);
  }
}

async function check(database: Database): Promise<void> {
  const [found] = await database.query<{ version: number; shown: string; encoding: string }>(
    `SELECT current_setting('server_version_num')::integer AS version,
            current_setting('server_version') AS shown, current_setting('server_encoding') AS encoding`,
  );
  if (found && found.version < LEAST_VERSION * 10_000) {
    throw new Error(
      `DATABASE_URL: the database is PostgreSQL ${found.shown}, expected ${LEAST_VERSION} or later`,
    );
  }
  if (found && found.encoding !== "UTF8") {
    throw new Error(
      `DATABASE_URL: the encoding of the database is ${found.encoding}, expected UTF8: create another one with ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
}

const ADVICE: ReadonlyMap<string, string> = new Map([
  [READ_ONLY, "the database is read-only, as a standby in recovery is: give the primary's address"],
  ["28P01", "the database refused the user name or the password: correct them"],
  ["28000", "the database refused this user or this connection: check its pg_hba.conf"],
  ["3D000", "there is no such database: create it first"],
  ["3F000", "the search_path has no schema that exists: create one of its schemas, or correct it"],
  ["42P07", FOREIGN],
  ["42710", FOREIGN],
  ["42501", "the user may not create tables: make it the owner of the database"],
  [NO_CONNECTION, "the database has no free connection: raise max_connections, or end others"],
  ["57P03", "the database is starting or stopping: try again when it is up"],
  ["ECONNREFUSED", "nothing listens at this host and port: start the database, or correct them"],
  ["ENOTFOUND", "there is no host of this name: correct it"],
  ["EAI_AGAIN", "the name of the host cannot be resolved at present: check the name and the DNS"],
  ["ENOENT", "there is no such socket: start the database, or correct the directory"],
]);

/** Failures that the driver reports without a code. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^SASL: .*password must be/, "the database asks for a password: give one in the URL"],
  [/not support SSL/, "the database does not offer TLS: switch it on there, or leave out sslmode"],
  [/timeout/, "the database did not answer: check the host, the port, and firewalls between"],
];

/** A failure of the start, in one line. It never shows the URL, which may contain a password. */
function faultOf(error: unknown): unknown {
  const cause = error instanceof Refusal ? error.cause : error;
  const code = codeOf(cause);
  const advice = code === undefined ? undefined : ADVICE.get(code);
  if (advice !== undefined) return new Error(`DATABASE_URL: ${advice} (${code})`, { cause });
  if (!(error instanceof Refusal)) return error;
  const reason = cause instanceof Error && cause.message !== "" ? cause.message : error.message;
  const [, found] = REASONS.find(([pattern]) => pattern.test(reason)) ?? [];
  const fault = found ?? `the database cannot be used: ${reason}`;
  return new Error(`DATABASE_URL: ${fault}`, { cause });
}
