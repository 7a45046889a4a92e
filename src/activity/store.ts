import type { ActivityFilter } from "./filter.ts";
import type { Pieces } from "../core/pieces.ts";
import type { ActivityEntry } from "./schema.ts";

/** Some entries, newest first, and the number of all that match. */
export interface ActivityRows {
  /** The entries as JSON objects, joined by commas; in pieces if they are long. */
  readonly json: Buffer | Pieces;
  readonly returned: number;
  readonly total: number;
}

/** The number of an organization's newest entries that are never removed for their age. */
export const KEPT_ENTRIES = 10_000;

/** Keeps every organization's activity log. */
export interface ActivityStore {
  /** Adds an entry as the newest, bounded as in `entry-line.ts`; it is durable when this resolves. */
  append(organization: string, entry: ActivityEntry): Promise<void>;

  /**
   * Removes entries that were written before a moment (milliseconds), in all organizations. At least the
   * newest `KEPT_ENTRIES` of each stay. Entries are removed in groups, each when all of its entries are that old.
   */
  retain(olderThanMs: number): Promise<void>;

  /**
   * The matching entries, newest first, without the first `offset` ones; at most `limit`. Rejects once the signal is
   * aborted.
   */
  page(
    organization: string,
    filter: ActivityFilter,
    limit: number,
    offset: number,
    signal?: AbortSignal,
  ): Promise<ActivityRows>;
}
