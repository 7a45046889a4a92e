/**
 * Rows that name the days that exports of any server are reading. Events that retention removes disappear from
 * every new answer at once, but are deleted only when no earlier export can still need them. The leases of a
 * server that dies end within a minute.
 */
import { randomUUID } from "node:crypto";
import { clearInterval, setInterval } from "../../../core/timers.ts";
import type { Database } from "../database.ts";

const EXPIRES_SECONDS = 60;
const RENEW_MS = 20_000;

/** Ends the reading. */
type Lease = () => void;

/** The exports of this server. */
export class Readers {
  readonly #database: Database;
  readonly #open = new Set<Lease>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Keeps the events of all days from the first given day on, until the lease is ended. */
  async keep(days: readonly { readonly day: string }[]): Promise<Lease> {
    const [firstDay = "infinity"] = days.map(({ day }) => day).sort();
    const id = randomUUID();
    const write = (): Promise<number> =>
      this.#database.run(
        `INSERT INTO audit_readers (id, first_day, expires_at)
         VALUES ($1, $2, now() + interval '${EXPIRES_SECONDS} seconds')
         ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
        [id, firstDay],
      );
    await write();
    // A failed renewal is retried before the lease ends.
    const renewing = setInterval(() => void write().catch(() => undefined), RENEW_MS).unref();
    const end = (): void => {
      if (!this.#open.delete(end)) return;
      clearInterval(renewing);
      void this.#database
        .run("DELETE FROM audit_readers WHERE id = $1", [id])
        .catch(() => undefined);
    };
    this.#open.add(end);
    return end;
  }

  /** Ends every lease. */
  close(): void {
    for (const end of this.#open) end();
  }
}
