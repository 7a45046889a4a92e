import { entryLine } from "../../activity/entry-line.ts";
import type { ActivityFilter } from "../../activity/filter.ts";
import { matcherOf } from "../../activity/filter.ts";
import type { ActivityEntry } from "../../activity/schema.ts";
import { KEPT_ENTRIES, type ActivityRows, type ActivityStore } from "../../activity/store.ts";
import { forEachOrganization } from "../../core/each-organization.ts";
import { Unavailable } from "../../core/errors.ts";
import { formatTimestamp } from "../../core/time.ts";
import { DamageRegister } from "../damage.ts";
import { listOrganizations } from "../directories.ts";
import type { LogCheck } from "../log-checks.ts";
import { checkActivity, listActivityFiles, type ActivityLogParts } from "./activity-files.ts";
import { ActivityLog } from "./activity-log.ts";

type Defaulted = "damage" | "maxBytes" | "keptEntries" | "fileBytes";

/** The parts of all organizations' logs. The defaults are a new damage register and no limit of bytes. */
export type ActivityParts = Omit<ActivityLogParts, "organization" | Defaulted> &
  Partial<Pick<ActivityLogParts, Defaulted>>;

const FILE_BYTES = 1 << 20;

const NO_ROWS: ActivityRows = { json: Buffer.alloc(0), returned: 0, total: 0 };

/**
 * Keeps each organization's record of changes in `activity.jsonl` and the files that follow it; the sync of a
 * line commits it. Changes are rare and queries for them even rarer, so entries are not held in memory: a page
 * reads the whole log. A log is opened by its first entry or query.
 */
export class FileActivity implements ActivityStore {
  readonly #parts: Omit<ActivityLogParts, "organization">;
  readonly #logs = new Map<string, Promise<ActivityLog>>();
  readonly #opened = new Set<ActivityLog>();
  /** The error of the last attempt to open a log, by organization. */
  readonly #unopened = new Map<string, unknown>();
  #isClosed = false;

  constructor(parts: ActivityParts) {
    const damage = new DamageRegister(parts.files, parts.log);
    const sizes = { maxBytes: Infinity, keptEntries: KEPT_ENTRIES, fileBytes: FILE_BYTES };
    this.#parts = { damage, ...sizes, ...parts };
  }

  /**
   * Cuts off the torn tails of the given organizations' logs, and returns their checks for damage. Called at
   * start, before anything is written.
   */
  async checks(organizations: readonly string[]): Promise<readonly LogCheck[]> {
    const checks: LogCheck[] = [];
    for (const organization of organizations) {
      const parts = { ...this.#parts, organization };
      const bytes = await ActivityLog.repair(parts);
      const what = parts.layout.organization(organization).activityLog;
      if (bytes !== undefined) checks.push({ what, bytes, run: () => checkActivity(parts) });
    }
    return checks;
  }

  /** The error that stops some organization's log; `undefined` while all can be written. */
  get failure(): unknown {
    for (const log of this.#opened) if (log.failure !== undefined) return log.failure;
    return this.#unopened.values().next().value;
  }

  /** The active files, each with its acknowledged bytes. */
  get committed(): readonly (readonly [path: string, bytes: number])[] {
    return Array.from(this.#opened, ({ committed }) => committed);
  }

  /** Retries writing after a failure. */
  recover(): void {
    if (this.#isClosed) return;
    for (const log of this.#opened) log.recover();
    for (const organization of this.#unopened.keys()) this.#log(organization).catch(() => {});
  }

  async append(organization: string, entry: ActivityEntry): Promise<void> {
    const log = await this.#log(organization);
    await log.append(entryLine(entry));
  }

  async page(
    organization: string,
    filter: ActivityFilter,
    limit: number,
    offset: number,
    signal?: AbortSignal,
  ): Promise<ActivityRows> {
    const parts = { ...this.#parts, organization };
    const isUnopened = !this.#logs.has(organization);
    if (isUnopened && (await listActivityFiles(parts)).length === 0) return NO_ROWS;
    const log = await this.#log(organization);
    return log.newest(matcherOf(filter), limit, offset, signal);
  }

  async retain(olderThanMs: number): Promise<void> {
    const { files, layout, log } = this.#parts;
    const olderThan = formatTimestamp(olderThanMs);
    const organizations = await listOrganizations(files, layout);
    const parts = { log, failure: "activity retention failed" };
    await forEachOrganization(parts, organizations, async (organization) => {
      // The only file of a log is the active one, which is never removed.
      const found = await listActivityFiles({ ...this.#parts, organization });
      if (found.length > 1) await (await this.#log(organization)).retain(olderThan);
    });
  }

  /** Resolves when all pending entries are written and all files are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const logs = await Promise.allSettled(this.#logs.values());
    for (const one of logs) if (one.status === "fulfilled") await one.value.close();
  }

  #log(organization: string): Promise<ActivityLog> {
    if (this.#isClosed) throw new Unavailable("The service is stopping", 1);
    let log = this.#logs.get(organization);
    if (!log) {
      log = ActivityLog.open({ ...this.#parts, organization });
      this.#logs.set(organization, log);
      log.then(
        (opened) => {
          this.#opened.add(opened);
          this.#unopened.delete(organization);
        },
        (error: unknown) => {
          this.#logs.delete(organization); // so that the next use tries again
          this.#unopened.set(organization, error);
        },
      );
    }
    return log;
  }
}
