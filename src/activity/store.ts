import type { ActivityFilter } from "./filter.ts";
import type { Pieces } from "../core/pieces.ts";
import type { ActivityEntry } from "./schema.ts";

/** Some entries, newest first, and how many match over all. */
export interface ActivityRows {
  /** The entries as JSON objects, joined by commas; in pieces when they are long. */
  readonly json: Buffer | Pieces;
  readonly returned: number;
  readonly total: number;
}

/** Keeps every organization's record of changes. */
export interface ActivityStore {
  /** Adds an entry as the newest, bounded as `entry-line.ts` says; it is safe when this resolves. */
  append(organization: string, entry: ActivityEntry): Promise<void>;

  /**
   * Removes entries that were written before a moment (milliseconds), in all organizations. At least
   * the newest 10,000 of each stay; entries go in groups, once all of a group are that old.
   */
  retain(olderThanMs: number): Promise<void>;

  /** The matching entries from the `offset`th newest on, at most `limit`. */
  page(
    organization: string,
    filter: ActivityFilter,
    limit: number,
    offset: number,
  ): Promise<ActivityRows>;
}
