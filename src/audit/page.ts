import { cursorOf, positionFault, readCursor } from "./cursor.ts";
import type { Searcher } from "../core/scheduling/fair-share.ts";
import type { AuditFilter, AuditRows, AuditStore } from "./store.ts";

/** The start and the length of a page. */
export interface PageWanted {
  readonly limit: number;
  /** The number of rows to skip; ignored beside a cursor. */
  readonly offset: number;
  readonly cursor: string | undefined;
  /** Longer texts are cut to this length; not cut if absent. */
  readonly characters?: number;
}

/**
 * Reads a page of an organization's events, and the cursor of the next one; `undefined` at the end.
 * The search ends when its client leaves.
 *
 * @throws BadInput for a text that is not a cursor, or a cursor of other filters
 */
export async function readPage(
  audit: Pick<AuditStore, "page">,
  organization: string,
  filter: AuditFilter,
  { limit, offset, cursor, characters }: PageWanted,
  searcher?: Searcher,
): Promise<{ readonly rows: AuditRows; readonly next_cursor: string | undefined }> {
  const start = cursor === undefined ? offset : readCursor(cursor, organization, filter);
  try {
    const rows = await audit.page(organization, filter, limit, start, searcher, characters);
    return { rows, next_cursor: rows.next && cursorOf(rows.next, organization, filter) };
  } catch (error) {
    throw positionFault("cursor", error);
  }
}
