/**
 * Rows that name the days that exports of any server are reading. Events that retention removes disappear from
 * every new answer at once, but are deleted only when no earlier export reads them, or a day later. The leases of a
 * server that dies end within a minute.
 */
import { randomUUID } from "node:crypto";
import { removedMeanwhile } from "../../../audit/removed-meanwhile.ts";
import { clearInterval, setInterval } from "../../../core/timers.ts";
import type { Database } from "../database.ts";

const EXPIRES_AT = "now() + interval '60 seconds'";
const RENEW_MS = 20_000;

/** The lease of one export. */
export interface ReaderLease {
  /** Fires when the lease has expired and was deleted: some of the rows may have been removed. */
  readonly lost: AbortSignal;
  readonly end: () => void;
}

/** The exports of this server. */
export class Readers {
  readonly #database: Database;
  readonly #renewMs: number;
  readonly #open = new Set<() => void>();

  constructor(database: Database, renewMs = RENEW_MS) {
    this.#database = database;
    this.#renewMs = renewMs;
  }

  /** Keeps the events of all days from the first given day on, until the lease ends, or a day after their removal. */
  async keep(days: readonly { readonly day: string }[]): Promise<ReaderLease> {
    const [firstDay = "infinity"] = days.map(({ day }) => day).sort();
    const id = randomUUID();
    const lost = new AbortController();
    await this.#database.run(
      `INSERT INTO audit_readers (id, first_day, expires_at) VALUES ($1, $2, ${EXPIRES_AT})`,
      [id, firstDay],
    );
    // A deleted lease is not made anew: it would not bring the rows back that were removed without it.
    const renew = async (): Promise<void> => {
      const text = `UPDATE audit_readers SET expires_at = ${EXPIRES_AT} WHERE id = $1`;
      const renewed = await this.#database.run(text, [id]);
      if (renewed === 0) lost.abort(removedMeanwhile("The lease of an export had expired"));
    };
    // A failed renewal is retried before the lease ends.
    const retry = (): void => void renew().catch(() => undefined);
    const renewing = setInterval(retry, this.#renewMs).unref();
    const end = (): void => {
      if (!this.#open.delete(end)) return;
      clearInterval(renewing);
      void this.#database
        .run("DELETE FROM audit_readers WHERE id = $1", [id])
        .catch(() => undefined);
    };
    this.#open.add(end);
    return { lost: lost.signal, end };
  }

  /** Ends every lease. */
  close(): void {
    for (const end of this.#open) end();
  }
}
