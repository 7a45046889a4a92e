/**
 * Counts events by hour and by value, some thousand at a time, shortly after they are stored: counting them in
 * the same transaction would make ingest several times slower. Queries add the events that are not counted yet.
 */
import { setNewest } from "../../../core/set-newest.ts";
import { numberFrom, type Database } from "../database.ts";

/** The number of new events after which they are counted, and the most that are counted at once. */
const COUNT_AFTER = 5_000;
const COUNT_AT_ONCE = 20_000;
const MOST_KNOWN = 10_000;

/** Counts the events that this server stores. */
export class Counting {
  readonly #database: Database;
  readonly #after: number;
  /** The newest row of each organization when its events were last counted. */
  readonly #countedAt = new Map<string, number>();
  #counting: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(database: Database, after = COUNT_AFTER) {
    this.#database = database;
    this.#after = after;
  }

  /** Call when events of an organization were stored; `last` is the newest row. */
  grown(organization: string, last: number): void {
    if (last - (this.#countedAt.get(organization) ?? 0) < this.#after || this.#isClosed) return;
    setNewest(this.#countedAt, organization, last, MOST_KNOWN);
    this.#counting = this.#counting.then(() => this.#count(organization));
  }

  /** Resolves when the counting under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#counting;
  }

  async #count(organization: string): Promise<void> {
    // After a failure they are counted with the next events. Until then queries count them.
    await countEvents(this.#database, organization, () => this.#isClosed).catch(() => undefined);
  }
}

/** Counts the events of an organization until only few are uncounted. */
async function countEvents(
  database: Database,
  organization: string,
  isEnough = (): boolean => false,
): Promise<void> {
  for (let left = Infinity; left >= COUNT_AFTER && !isEnough();) {
    const values = [organization, COUNT_AT_ONCE];
    left = await numberFrom(database, "SELECT audit_count_1($1, $2) AS n", values);
  }
}

/** Counts all uncounted events, such as those of a server that has stopped. */
export async function countRest(database: Database): Promise<void> {
  const behind = await database.query<{ organization: string }>(
    `SELECT h.organization_id AS organization FROM audit_heads h LEFT JOIN audit_counted c USING (organization_id)
      WHERE h.last_seq - coalesce(c.seq, 0) >= $1`,
    [COUNT_AFTER],
  );
  for (const { organization } of behind) await countEvents(database, organization);
}
