/**
 * Leases: rows that let one server at a time do a piece of work. A lease expires, so a server that dies delays the
 * others only until then. The database's clock decides, since the servers' clocks may differ.
 */
import { randomUUID } from "node:crypto";
import { MINUTE_MS } from "../../core/clock.ts";
import { pause, systemStopwatch } from "../../core/timers.ts";
import type { Database } from "./database.ts";

/** The duration of a lease, the time to wait for it, and whether it ends with the work. */
export interface LeaseTerms {
  /** The milliseconds after which the lease of a dead server ends; 10 minutes if absent. */
  readonly forMs?: number;
  /** The milliseconds to wait for another server's lease; 0 if absent. */
  readonly waitMs?: number;
  /** Keeps the lease after successful work until it expires, so that the work is done only once in that time. */
  readonly isKept?: boolean;
}

const ASK_AGAIN_MS = 200;

const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Makes the lease end after some milliseconds from now. Rejects if another server took it over. */
export type ExtendLease = (ms: number) => Promise<void>;

/** Does work while holding a lease; `undefined` if another server held the lease for all of `waitMs`. */
export async function withLease<T>(
  database: Database,
  name: string,
  { forMs = 10 * MINUTE_MS, waitMs = 0, isKept = false }: LeaseTerms,
  work: (extend: ExtendLease) => Promise<T>,
): Promise<T | undefined> {
  const holder = randomUUID();
  const until = systemStopwatch() + waitMs;
  while (!(await acquireLease(database, name, forMs, holder))) {
    if (systemStopwatch() >= until) return undefined;
    await pause(ASK_AGAIN_MS);
  }
  let isDone = false;
  try {
    const result = await work(async (ms) => {
      const kept = await database.run(
        `UPDATE leases SET ends_at = ${NOW} + $3 WHERE name = $1 AND holder = $2`,
        [name, holder, ms],
      );
      if (kept === 0) throw new Error(`the lease "${name}" was lost to another server`);
    });
    isDone = true;
    return result;
  } finally {
    if (!isDone || !isKept) {
      // A lease that cannot be given back expires.
      await database
        .run("DELETE FROM leases WHERE name = $1 AND holder = $2", [name, holder])
        .catch(() => undefined);
    }
  }
}

/** Takes a lease that is free or has expired; `false` if another server has it. */
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
