import { cursorOf, positionFault, readCursor } from "./cursor.ts";
import type { AuditFilter, AuditRows, AuditStore } from "./store.ts";

/** Where a page begins, and how long it may be. */
export interface PageWanted {
  readonly limit: number;
  /** Rows to skip; ignored beside a cursor. */
  readonly offset: number;
  readonly cursor: string | undefined;
  /** Cuts longer texts; whole texts when absent. */
  readonly characters?: number;
}

/**
 * Reads a page of an organization's events, and the cursor of the next; `undefined` at the end. A
 * search ends when `gone` fires.
 *
 * @throws BadInput for a cursor of other filters, or a text that is not a cursor
 */
export async function readPage(
  audit: Pick<AuditStore, "page">,
  organization: string,
  filter: AuditFilter,
  { limit, offset, cursor, characters }: PageWanted,
  gone?: AbortSignal,
): Promise<{ readonly rows: AuditRows; readonly next_cursor: string | undefined }> {
  const start = cursor === undefined ? offset : readCursor(cursor, organization, filter);
  try {
    const rows = await audit.page(organization, filter, limit, start, gone, characters);
    return { rows, next_cursor: rows.next && cursorOf(rows.next, organization, filter) };
  } catch (error) {
    throw positionFault("cursor", error);
  }
}
