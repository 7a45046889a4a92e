/**
 * Leases: rows that let one server at a time do a piece of work. A lease ends by itself, so a server that
 * dies delays the others no longer than that. The database's clock decides, as the servers' clocks may differ.
 */
import { randomUUID } from "node:crypto";
import { Unavailable } from "../../core/errors.ts";
import { setTimeout, systemStopwatch } from "../../core/timers.ts";
import type { Database } from "./database.ts";

/** Which lease, for how long at most, and how long others wait for it. */
export interface LeaseTerms {
  readonly name: string;
  readonly forMs: number;
  /** 0 does not wait. */
  readonly waitMs: number;
}

const ASK_AGAIN_MS = 200;

const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/**
 * Does work while holding a lease.
 *
 * @throws Unavailable when another server held the lease all the time
 */
export async function withLease<T>(
  database: Database,
  terms: LeaseTerms,
  work: () => Promise<T>,
): Promise<T> {
  const holder = randomUUID();
  const until = systemStopwatch() + terms.waitMs;
  while (!(await acquireLease(database, terms, holder))) {
    if (systemStopwatch() >= until) {
      throw new Unavailable(`Another server holds the lease "${terms.name}": try again`, 5);
    }
    await new Promise((resolve) => void setTimeout(resolve, ASK_AGAIN_MS));
  }
  return heldBy(database, terms.name, holder, work);
}

/** Takes a lease that is free or over, or prolongs the holder's own; `false` when another has it. */
export async function acquireLease(
  database: Database,
  { name, forMs }: Pick<LeaseTerms, "name" | "forMs">,
  holder: string,
): Promise<boolean> {
  const taken = await database.run(
    `INSERT INTO leases AS lease (name, holder, ends_at) VALUES ($1, $2, ${NOW} + $3)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
      WHERE lease.ends_at < ${NOW} OR lease.holder = excluded.holder`,
    [name, holder, forMs],
  );
  return taken === 1;
}

/** How long one run of periodic work may take before another server may begin it. */
const PERIODIC_MS = 10 * 60_000;

/** Does periodic work unless another server is at it; `undefined` then. */
export async function ifLeased<T>(
  database: Database,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const holder = randomUUID();
  if (!(await acquireLease(database, { name, forMs: PERIODIC_MS }, holder))) return undefined;
  return heldBy(database, name, holder, work);
}

async function heldBy<T>(
  database: Database,
  name: string,
  holder: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } finally {
    // A lease that cannot be given back ends by itself.
    await database
      .run("DELETE FROM leases WHERE name = $1 AND holder = $2", [name, holder])
      .catch(() => undefined);
  }
}
