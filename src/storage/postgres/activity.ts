import { entryLine } from "../../activity/entry-line.ts";
import { matcherOf, type ActivityFilter } from "../../activity/filter.ts";
import type { ActivityEntry } from "../../activity/schema.ts";
import { KEPT_ENTRIES, type ActivityRows, type ActivityStore } from "../../activity/store.ts";
import { forEachOrganization } from "../../core/each-organization.ts";
import type { Log } from "../../core/log.ts";
import { formatTimestamp } from "../../core/time.ts";
import { Queue } from "../../core/scheduling/queue.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";
import { numberFrom, type Database, type Statements } from "./database.ts";
import { GroupQueue } from "./group-queue.ts";
import { withLease } from "./leases.ts";
import type { Removing } from "./proof/removing.ts";
import type { Session } from "./session.ts";

/** The number of entries that a search reads, or retention removes, at a time. */
const PORTION = 2_000;
const REMOVED_AT_ONCE = 10_000;

const MOST_APPENDED_AT_ONCE = 200;

/**
 * After writing this part of the allowed bytes, a server checks whether entries must be removed, and at its first entry:
 * servers that are often restarted would never write so much.
 */
const TRIMMED_PART = 1 / 64;

interface Row {
  readonly number: number;
  readonly entry: string;
}

interface Appended {
  readonly entry: ActivityEntry;
  readonly settle: (error?: unknown) => void;
}

/**
 * Writes entries, in groups outside of a unit of work, and removes the oldest ones of an organization whose log is larger
 * than allowed. Adding up the bytes at each write would cost too much. So each server counts the bytes that it writes, and
 * adds up all bytes in the database only now and then: the log exceeds its limit by at most 1/64 for each server.
 */
export class ActivityWriter {
  readonly #database: Database;
  readonly #maxBytes: number;
  readonly #removing: Removing;
  /** The bytes that this server has written since its last check, by organization. */
  readonly #written = new Map<string, number>();
  readonly #queue = new GroupQueue<Appended>(
    (organization, group) => this.#writeGroup(organization, group),
    MOST_APPENDED_AT_ONCE,
  );
  readonly #trims = new Queue();

  constructor(database: Database, maxBytes = Infinity, removing: Removing = async () => true) {
    this.#database = database;
    this.#maxBytes = maxBytes;
    this.#removing = removing;
  }

  /** Adds an entry in a transaction of its own, or together with others that arrive meanwhile. */
  append(organization: string, entry: ActivityEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown): void => {
        if (error === undefined) resolve();
        else reject(error as Error);
      };
      this.#queue.add(organization, { entry, settle });
    });
  }

  /** Adds entries within a transaction, and trims the organization's log when a check is due. */
  async insert(
    transaction: Statements,
    organization: string,
    entries: readonly ActivityEntry[],
  ): Promise<void> {
    const lines = await insertEntries(transaction, organization, entries);
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const due = this.#maxBytes * TRIMMED_PART;
    const written = (this.#written.get(organization) ?? due) + bytes;
    const isDue = written >= due;
    this.#written.set(organization, isDue ? 0 : written);
    // After a failure the next check comes when the count, which begins anew, is due again.
    if (isDue) this.#trims.run(() => this.trim(organization)).catch(() => {});
  }

  /** Removes the oldest entries beyond the limit. */
  async trim(organization: string): Promise<void> {
    if (this.#maxBytes === Infinity) return;
    await this.#remove(
      organization,
      `SELECT coalesce(max(number), 0) AS n FROM
         (SELECT number, sum(octet_length(entry) + 1) OVER (ORDER BY number DESC) AS bytes
            FROM activity WHERE organization_id = $1) AS counted
       WHERE bytes > $2`,
      this.#maxBytes,
    );
  }

  /** Removes the entries before the first one that is young enough, so that no gap is left. */
  async removeOlder(organization: string, olderThan: string): Promise<void> {
    await this.#remove(
      organization,
      `SELECT coalesce(max(number), 0) AS n FROM activity WHERE organization_id = $1
          AND number < coalesce((SELECT min(number) FROM activity
                                  WHERE organization_id = $1 AND timestamp >= $2), $4)
          AND number <= (SELECT number FROM activity WHERE organization_id = $1
                          ORDER BY number DESC OFFSET $3 LIMIT 1)`,
      olderThan,
      KEPT_ENTRIES,
      Number.MAX_SAFE_INTEGER,
    );
  }

  /** Removes the entries up to the one that a query finds, which gives 0 for none. */
  async #remove(organization: string, last: string, ...values: readonly unknown[]): Promise<void> {
    const upTo = await numberFrom(this.#database, last, [organization, ...values]);
    if (upTo === 0 || !(await this.#removing({ organization, log: "activity" }, upTo))) return;
    const text = `DELETE FROM activity WHERE organization_id = $1 AND number IN
      (SELECT number FROM activity WHERE organization_id = $1 AND number <= $2
        ORDER BY number LIMIT $3)`;
    const portion = [organization, upTo, REMOVED_AT_ONCE];
    while ((await this.#database.run(text, portion)) === REMOVED_AT_ONCE);
  }

  /** Resolves when all given entries are written and no trim is under way. */
  async close(): Promise<void> {
    await this.#queue.idle();
    await this.#trims.idle();
  }

  async #writeGroup(organization: string, group: readonly Appended[]): Promise<void> {
    const entries = group.map(({ entry }) => entry);
    const failure = await this.#database
      .transaction((transaction) => this.insert(transaction, organization, entries))
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    for (const { settle } of group) settle(failure);
  }
}

/** Keeps the activity log in the table `activity`. */
export function activityOver(
  database: Database,
  session: Session,
  writer: ActivityWriter,
  log: Log,
): ActivityStore {
  return {
    append: (organization, entry) =>
      session.isUnit
        ? session.change((transaction) => writer.insert(transaction, organization, [entry]))
        : writer.append(organization, entry),

    async retain(olderThanMs) {
      await withLease(database, "activity retention", {}, async () => {
        const rows = await database.query<{ id: string }>("SELECT id FROM organizations");
        const organizations = rows.map(({ id }) => id);
        const check = () => database.query("SELECT");
        const parts = { check, log, failure: "activity retention failed" };
        await forEachOrganization(parts, organizations, async (organization) => {
          await writer.removeOlder(organization, formatTimestamp(olderThanMs));
          await writer.trim(organization);
        });
      });
    },

    async page(organization, filter, limit, offset, signal) {
      const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
      if (isFiltered) return search(database, organization, filter, { limit, offset, signal });
      const all = "SELECT count(*) AS n FROM activity WHERE organization_id = $1";
      const total = await numberFrom(session, all, [organization]);
      if (offset >= total) return rowsOf([], total);
      const rows = await session.query<Row>(
        `SELECT entry FROM activity WHERE organization_id = $1
          ORDER BY number DESC LIMIT $2 OFFSET $3`,
        [organization, limit, offset],
      );
      return rowsOf(
        rows.map(({ entry }) => entry),
        total,
      );
    },
  };
}

/** Reads portion by portion, newest first. The same code as in other engines decides which entries match. */
async function search(
  database: Database,
  organization: string,
  filter: ActivityFilter,
  { limit, offset, signal }: { limit: number; offset: number; signal: AbortSignal | undefined },
): Promise<ActivityRows> {
  const fits = matcherOf(filter);
  const yielder = new Yielder(signal);
  const found: string[] = [];
  let total = 0;
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const rows = await database.search<Row>(
      `SELECT number, entry FROM activity
        WHERE organization_id = $1 AND number < $2
          AND ($4::text IS NULL OR timestamp >= $4) AND ($5::text IS NULL OR timestamp < $5)
        ORDER BY number DESC LIMIT $3`,
      [organization, before, PORTION, momentOf(filter.from), momentOf(filter.to)],
      { gone: signal },
    );
    for (const { entry } of rows) {
      if (yielder.isDue) await yielder.step();
      if (!fits(JSON.parse(entry) as ActivityEntry)) continue;
      if (total >= offset && found.length < limit) found.push(entry);
      total++;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PORTION) return rowsOf(found, total);
    before = last.number;
  }
}

/** Adds entries within a transaction, oldest first; returns their lines. */
export async function insertEntries(
  transaction: Statements,
  organization: string,
  entries: readonly ActivityEntry[],
): Promise<readonly string[]> {
  const lines = entries.map(entryLine);
  await transaction.run(
    `INSERT INTO activity (organization_id, timestamp, entry)
     SELECT $1, timestamp, entry
       FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS given (timestamp, entry, place)
      ORDER BY place`,
    [organization, entries.map(({ timestamp }) => timestamp), lines],
  );
  return lines;
}

function momentOf(ms: number | undefined): string | null {
  return ms === undefined ? null : formatTimestamp(ms);
}

function rowsOf(entries: readonly string[], total: number): ActivityRows {
  return { json: Buffer.from(entries.join(",")), returned: entries.length, total };
}
