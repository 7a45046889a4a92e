import { checkQuota, type Quota } from "../../core/quota.ts";
import { formatTimestamp } from "../../core/time.ts";
import { clearTimeout, setTimeout } from "../../core/timers.ts";
import { validate } from "../../core/validate.ts";
import { storedKey, type StoredKey } from "../../keys/schema.ts";
import { KEPT_REVOKED, type KeyStore } from "../../keys/store.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { RecordTable } from "../record-table.ts";
import { UndoQueue } from "../undo-queue.ts";

export const FLUSH_AFTER_MS = 30_000;

/** Called after a failed write that no caller waits for. */
export type ReportFailure = (error: unknown) => void;

/**
 * Keeps API keys in each organization's `api-keys.json`, whose rename commits a change, and all of them in
 * memory. The last use of a key is noted in memory and written half a minute later, for all keys together.
 */
export class FileKeys implements KeyStore {
  readonly changes: UndoQueue;
  readonly #table: RecordTable<StoredKey>;
  readonly #report: ReportFailure;
  readonly #flushAfterMs: number;
  readonly #byHash = new Map<string, StoredKey>();
  /** The last use of a key since its file was written, in milliseconds, by organization and id. */
  readonly #uses = new Map<string, Map<string, number>>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    queue: UndoQueue,
    table: RecordTable<StoredKey>,
    report: ReportFailure,
    flushAfterMs: number,
  ) {
    this.changes = queue;
    this.#table = table;
    this.#report = report;
    this.#flushAfterMs = flushAfterMs;
  }

  /**
   * Reads the keys of the given organizations.
   *
   * @param flushAfterMs the time from a use to its write, together with all uses in between
   * @throws Error naming the file that is damaged, and the way out
   */
  static async open(
    files: FileOperations,
    layout: Layout,
    organizations: readonly string[],
    report: ReportFailure,
    flushAfterMs = FLUSH_AFTER_MS,
  ): Promise<FileKeys> {
    const queue = new UndoQueue();
    const options = {
      name: "api_keys",
      pathOf: (organization: string) => layout.organization(organization).apiKeys,
      read: (value: unknown, place: string) => validate(storedKey, value, place),
    };
    const table = await RecordTable.open(files, queue, options, organizations);
    const keys = new FileKeys(queue, table, report, flushAfterMs);
    for (const key of table.all()) keys.#byHash.set(key.hash, key);
    return keys;
  }

  list(organization: string): readonly StoredKey[] {
    return this.#withUses(organization).reverse();
  }

  findByHash(hash: string): StoredKey | undefined {
    return this.#byHash.get(hash);
  }

  create(organization: string, key: StoredKey, quota?: Quota): Promise<void> {
    return this.changes.run(async () => {
      const revoked = this.#table.list(organization).filter((known) => known.revoked);
      checkQuota(quota, this.#table.list(organization).length - revoked.length);
      const dropped = new Set(
        revoked.slice(0, Math.max(0, revoked.length - KEPT_REVOKED)).map(({ id }) => id),
      );
      await this.#commit(organization, (keys) => [
        ...keys.filter(({ id }) => !dropped.has(id)),
        { ...key, organization_id: organization },
      ]);
      for (const { id, hash } of revoked) if (dropped.has(id)) this.#byHash.delete(hash);
    });
  }

  revoke(organization: string, id: string): Promise<StoredKey | undefined> {
    return this.changes.run(async () => {
      const key = this.#table.get(organization, id);
      if (!key || key.revoked) return key;
      await this.#commit(organization, (keys) =>
        keys.map((other) => (other.id === id ? { ...other, revoked: true } : other)),
      );
      return key;
    });
  }

  touch(organization: string, id: string, now: number): void {
    let uses = this.#uses.get(organization);
    if (!uses) this.#uses.set(organization, (uses = new Map<string, number>()));
    uses.set(id, now);
    this.#schedule();
  }

  /** Writes the last uses of keys; failed writes are reported, and repeated later. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // One organization after another, so that a change waits for the write of at most one organization.
    for (const organization of [...this.#uses.keys()]) {
      try {
        await this.changes.run(() => this.#commit(organization, (keys) => keys));
      } catch (error) {
        this.#report(error);
        this.#schedule();
      }
    }
  }

  /** Finishes pending writes. */
  async close(): Promise<void> {
    await this.flush();
    await this.changes.close();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#flushAfterMs).unref();
  }

  async #commit(
    organization: string,
    change: (keys: readonly StoredKey[]) => readonly StoredKey[],
  ): Promise<void> {
    const uses = this.#uses.get(organization);
    const written = new Map(uses);
    const keys = change(this.#withUses(organization));
    await this.#table.commit(organization, keys);
    for (const key of keys) this.#byHash.set(key.hash, key);
    // A key may have been used again while the file was written: that use is still pending.
    for (const [id, at] of written) if (uses?.get(id) === at) uses.delete(id);
    if (uses?.size === 0) this.#uses.delete(organization);
  }

  /** The keys of an organization, oldest first, as they would be written now. */
  #withUses(organization: string): StoredKey[] {
    const uses = this.#uses.get(organization);
    return this.#table.list(organization).map((key) => {
      const usedAt = uses?.get(key.id);
      return usedAt === undefined ? key : { ...key, last_used_at: formatTimestamp(usedAt) };
    });
  }
}
