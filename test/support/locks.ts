import pg from "pg";
import { openPostgresEngine } from "../../src/storage/postgres/engine.ts";
import { createDatabase, openDatabase } from "./postgres.ts";
import { ADMIN_SETTINGS, start, type App, type Scope, type Settings } from "./start.ts";

/** A service over PostgreSQL, and the means to hold up its statements. */
export interface Locked {
  readonly app: App;
  /** Holds the lock that a statement takes, as another server does that is making a change; the result ends that. */
  lock(statement: string): Promise<() => Promise<void>>;
  /** Waits until the given number of transactions waits for a lock. */
  waiting(transactions: number): Promise<void>;
}

/** Starts a service over a database of its own, with a pool of the given size. */
export async function startWithLocks(
  t: Scope,
  poolSize: number,
  settings: Settings = {},
): Promise<Locked> {
  const databaseUrl = await createDatabase();
  const app = await start(t, { ...ADMIN_SETTINGS, ...settings }, undefined, (parts) => {
    const config = { ...parts.config, databaseUrl, databasePoolSize: poolSize };
    return openPostgresEngine({ ...parts, config });
  });
  const watch = await openDatabase(databaseUrl, 1);
  t.after(() => watch.close());
  return {
    app,
    async lock(statement) {
      const holder = new pg.Client({ connectionString: databaseUrl });
      await holder.connect();
      let isHeld = true;
      const end = async (): Promise<void> => {
        if (isHeld) await holder.end();
        isHeld = false;
      };
      t.after(end);
      await holder.query(`BEGIN; ${statement}`);
      return end;
    },
    async waiting(transactions) {
      const blocked = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`;
      while ((await watch.query(blocked)).length < transactions);
    },
  };
}
