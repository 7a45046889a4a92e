/** Several servers over one PostgreSQL database. */
import type { OpenEngine } from "../../src/engine.ts";
import { openPostgresEngine } from "../../src/storage/postgres/engine.ts";
import { createDatabase } from "./postgres.ts";
import { start, type App, type Scope, type Settings } from "./start.ts";

/** Starts three servers over a new database, or over the one that is given. */
export async function startThree(
  t: Scope,
  settings: Settings = {},
  url?: string,
): Promise<readonly [App, App, App]> {
  const databaseUrl = url ?? (await createDatabase());
  const open: OpenEngine = (parts) => {
    const config = { ...parts.config, databaseUrl, databasePoolSize: 4 };
    return openPostgresEngine({ ...parts, config });
  };
  const startOne = (): Promise<App> => start(t, settings, undefined, open);
  return [await startOne(), await startOne(), await startOne()];
}
