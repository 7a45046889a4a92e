/** Imported before a journey, it lets that journey run over PostgreSQL. */
import { openPostgresEngine } from "../../src/storage/postgres/engine.ts";
import { createDatabase, moveDatabase, statementsAt } from "./postgres.ts";
import { useEngine, type TestEngine } from "./start.ts";

useEngine(() => engineOver());

/** An engine over a database, or over a new one, which stays the same after a restart. */
function engineOver(given?: string): TestEngine {
  let url = given === undefined ? undefined : Promise.resolve(given);
  const open: TestEngine = async (parts) => {
    const databaseUrl = await (url ??= createDatabase());
    const config = { ...parts.config, databaseUrl, databasePoolSize: 4 };
    return openPostgresEngine({ ...parts, config });
  };
  const move: TestEngine["move"] = async (how) => {
    const moved = await moveDatabase(await (url ??= createDatabase()), how);
    return engineOver(moved);
  };
  const sql = async (text: string): Promise<string> =>
    statementsAt(await (url ??= createDatabase()), text);
  return Object.assign(open, { move, sql, url: () => (url ??= createDatabase()) });
}
