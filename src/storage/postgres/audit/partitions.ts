/** The partitions of the events, one for each day of arrival. */
import type { Database, Statements } from "../database.ts";
import { DAY_MS } from "../../../core/clock.ts";
import { dayOf } from "./records.ts";

/** Makes partitions: of a day before its first event, and of the next day in advance. */
export class Partitions {
  readonly #database: Database;
  readonly #made = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Makes the partitions of days, and of the days that follow them. */
  async ensure(days: readonly string[]): Promise<void> {
    for (const day of days) {
      if (this.#made.has(day)) continue;
      await this.#make(day);
      await this.#make(dayOf(Date.parse(day) + DAY_MS));
      this.#made.add(day);
    }
  }

  /** Makes missing partitions of days, and those of the organizations' first days. */
  async remake(days: readonly string[], organizations: readonly string[]): Promise<void> {
    const firsts = await this.#database.query<{ day: string }>(
      `SELECT DISTINCT first_day::text AS day FROM audit_heads
        WHERE organization_id = ANY ($1) AND first_day > '-infinity'`,
      [organizations],
    );
    for (const day of days) this.#made.delete(day);
    await this.ensure([...days, ...firsts.map(({ day }) => day)]);
  }

  /** Makes a partition. The row of the day acts as a lock: other servers wait for it. */
  #make(day: string): Promise<void> {
    return this.#database.transaction(async (transaction) => {
      const isNew = await transaction.run(
        "INSERT INTO audit_partitions (day) VALUES ($1) ON CONFLICT DO NOTHING",
        [day],
      );
      if (isNew === 0) return;
      const table = tableOf(day);
      // Attaching a table blocks no writer; `CREATE TABLE … PARTITION OF` would block all of them.
      await transaction.run(`CREATE TABLE ${table} (LIKE audit_events INCLUDING DEFAULTS)`);
      await transaction.run(
        `ALTER TABLE audit_events ATTACH PARTITION ${table} FOR VALUES IN ('${day}')`,
      );
    });
  }
}

/** The table of a day's events. */
export function tableOf(day: string): string {
  return `audit_events_${day.replaceAll("-", "")}`;
}

/** Drops the partition of a day. Fails at once if a long query reads it. */
export async function dropPartition(transaction: Statements, day: string): Promise<void> {
  await transaction.run("SET LOCAL lock_timeout = '500ms'");
  await transaction.run("DELETE FROM audit_partitions WHERE day = $1", [day]);
  await transaction.run(`ALTER TABLE audit_events DETACH PARTITION ${tableOf(day)}`);
}
