/** Imported before a journey, it lets that journey run over PostgreSQL. */
import { openPostgresEngine } from "../../src/storage/postgres/engine.ts";
import { createDatabase } from "./postgres.ts";
import { useEngine } from "./start.ts";

useEngine(() => {
  let url: Promise<string> | undefined; // the same after a restart
  return async (parts) => {
    const databaseUrl = await (url ??= createDatabase());
    const config = { ...parts.config, databaseUrl, databasePoolSize: 4 };
    return openPostgresEngine({ ...parts, config });
  };
});
