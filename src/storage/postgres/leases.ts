/**
 * Leases: rows that let one server at a time do a piece of work. A lease ends by itself, so a server that
 * dies delays the others no longer than that. The database's clock decides, as the servers' clocks may differ.
 */
import { randomUUID } from "node:crypto";
import { MINUTE_MS } from "../../core/clock.ts";
import { setTimeout, systemStopwatch } from "../../core/timers.ts";
import type { Database } from "./database.ts";

/** How long a lease may be held, how long other servers wait for it, and whether work ends it. */
export interface LeaseTerms {
  /** When a lease ends whose server is dead; 10 minutes when absent. */
  readonly forMs?: number;
  /** Does not wait when absent. */
  readonly waitMs?: number;
  /** Keeps the lease after successful work until it ends, so that the work is done once in that time. */
  readonly isKept?: boolean;
}

const ASK_AGAIN_MS = 200;

const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Does work while holding a lease; `undefined` when another server held it all the time. */
export async function withLease<T>(
  database: Database,
  name: string,
  { forMs = 10 * MINUTE_MS, waitMs = 0, isKept = false }: LeaseTerms,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const holder = randomUUID();
  const until = systemStopwatch() + waitMs;
  while (!(await acquireLease(database, name, forMs, holder))) {
    if (systemStopwatch() >= until) return undefined;
    await new Promise((resolve) => void setTimeout(resolve, ASK_AGAIN_MS));
  }
  let isDone = false;
  try {
    const result = await work();
    isDone = true;
    return result;
  } finally {
    if (!isDone || !isKept) {
      // A lease that cannot be given back ends by itself.
      await database
        .run("DELETE FROM leases WHERE name = $1 AND holder = $2", [name, holder])
        .catch(() => undefined);
    }
  }
}

/** Takes a lease that is free or over; `false` when another server has it. */
async function acquireLease(
  database: Database,
  name: string,
  forMs: number,
  holder: string,
): Promise<boolean> {
  const taken = await database.run(
    `INSERT INTO leases AS lease (name, holder, ends_at) VALUES ($1, $2, ${NOW} + $3)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
      WHERE lease.ends_at < ${NOW}`,
    [name, holder, forMs],
  );
  return taken === 1;
}
