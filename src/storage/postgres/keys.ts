import { describeError, type Log } from "../../core/log.ts";
import { checkQuota } from "../../core/quota.ts";
import { formatTimestamp } from "../../core/time.ts";
import { clearTimeout, setTimeout } from "../../core/timers.ts";
import type { StoredKey } from "../../keys/schema.ts";
import { KEPT_REVOKED, type KeyStore } from "../../keys/store.ts";
import { CoalescedReads } from "./coalesced.ts";
import { numberFrom, type Database, type Statements } from "./database.ts";
import { inPortions } from "./in-portions.ts";
import { changeOf, type Session } from "./session.ts";
import { toText } from "./text.ts";

interface Row {
  readonly document: string;
  readonly revoked: boolean;
  readonly last_used_at: number | null;
}

const COLUMNS = "document, revoked, last_used_at";

/** The delay after which uses are written, all together. */
const FLUSH_AFTER_MS = 10_000;

/** Records the last use of keys, and writes the uses of all keys together some seconds later. */
export class KeyUses {
  readonly #database: Database;
  readonly #log: Log;
  #uses = new Map<string, readonly [organization: string, id: string, at: number]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  note(organization: string, id: string, at: number): void {
    this.#uses.set(`${organization}/${id}`, [organization, id, at]);
    this.#timer ??= setTimeout(() => void this.close(), FLUSH_AFTER_MS).unref();
  }

  /** Writes the recorded uses. If the write fails they are recorded again, unless there is a newer use. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = this.#uses;
    if (uses.size === 0) return;
    this.#uses = new Map();
    const rows = [...uses.values()];
    try {
      await this.#database.run(
        `UPDATE api_keys k SET last_used_at = u.at
           FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (organization_id, id, at)
          WHERE k.organization_id = u.organization_id AND k.id = u.id
            AND coalesce(k.last_used_at, 0) < u.at`,
        [rows.map(([one]) => one), rows.map(([, id]) => toText(id)), rows.map(([, , at]) => at)],
      );
    } catch (error) {
      this.#uses = new Map([...uses, ...this.#uses]);
      this.#timer ??= setTimeout(() => void this.close(), FLUSH_AFTER_MS).unref();
      throw error;
    }
  }

  /** Writes the recorded uses; a failure is logged. */
  async close(): Promise<void> {
    await this.flush().catch((error: unknown) =>
      this.#log.error("the last use of API keys could not be written", {
        error: describeError(error),
      }),
    );
  }
}

/** Adds a key within a transaction. */
export async function addKey(transaction: Statements, key: StoredKey): Promise<void> {
  const usedAt = key.last_used_at === undefined ? null : Date.parse(key.last_used_at);
  await transaction.run(
    `INSERT INTO api_keys (organization_id, id, hash, revoked, last_used_at, document)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      ...[key.organization_id, toText(key.id), toText(key.hash)],
      ...[key.revoked, usedAt, JSON.stringify(key)],
    ],
  );
}

/** Keeps the API keys in the table `api_keys`. */
export function keysOver(session: Session, uses: KeyUses): KeyStore {
  const byHash = new CoalescedReads(async (hashes) => {
    const rows = await session.query<Row>(
      `SELECT ${COLUMNS} FROM api_keys WHERE hash = ANY($1)`,
      [hashes.map(toText)],
      "keys-by-hash",
    );
    return new Map(rows.map(keyOf).map((key) => [key.hash, key]));
  });
  return {
    async list(organization) {
      await uses.flush();
      const oldestFirst = await inPortions(
        session,
        `SELECT id, number, ${COLUMNS} FROM api_keys
          WHERE organization_id = $3 AND id > $1 ORDER BY id LIMIT $2`,
        [organization],
        keyOf,
      );
      return oldestFirst.reverse();
    },

    findByHash: (hash) => byHash.get(hash),

    create: (organization, key, quota) =>
      changeOf(session, organization, async (transaction) => {
        const valid =
          "SELECT count(*) AS n FROM api_keys WHERE organization_id = $1 AND NOT revoked";
        checkQuota(quota, await numberFrom(transaction, valid, [organization]));
        await transaction.run(
          `DELETE FROM api_keys WHERE organization_id = $1 AND id IN
             (SELECT id FROM api_keys WHERE organization_id = $1 AND revoked
               ORDER BY number DESC OFFSET $2)`,
          [organization, KEPT_REVOKED],
        );
        await addKey(transaction, { ...key, organization_id: organization });
      }),

    revoke: (organization, id) =>
      changeOf(session, organization, async (transaction) => {
        const [before] = await transaction.query<Row>(
          `SELECT ${COLUMNS} FROM api_keys WHERE organization_id = $1 AND id = $2`,
          [organization, toText(id)],
        );
        await transaction.run(
          "UPDATE api_keys SET revoked = true WHERE organization_id = $1 AND id = $2",
          [organization, toText(id)],
        );
        return before && keyOf(before);
      }),

    touch: (organization, id, now) => uses.note(organization, id, now),
  };
}

function keyOf({ document, revoked, last_used_at: usedAt }: Row): StoredKey {
  const key = JSON.parse(document) as StoredKey;
  return { ...key, revoked, ...(usedAt !== null && { last_used_at: formatTimestamp(usedAt) }) };
}
