/** What the address of the page of the activity says, and how addresses of it are made. */
import { ACCESS_PATH } from "./access-tabs.ts";

/** What the page is narrowed to, and where in the record it stands. */
export interface ActivityView {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  readonly q?: string | undefined;
  /** How many entries are skipped, counted from the newest. */
  readonly offset: number;
}

/** How many entries a page shows. */
export const ACTIVITY_ROWS = 50;

/** The names of what narrows, as they stand in the address. */
export const ACTIVITY_FILTERS = ["action", "actor", "target", "q"] as const;

/** The address of a view: what is not set does not stand in it. */
export function activityLink(view: Partial<ActivityView>): string {
  const query = new URLSearchParams();
  for (const name of ACTIVITY_FILTERS) {
    const value = view[name];
    if (value) query.set(name, value);
  }
  if (view.offset) query.set("offset", String(view.offset));
  const search = query.toString();
  return `${ACCESS_PATH}/activity${search === "" ? "" : `?${search}`}`;
}

/** Reads a view from the search part of an address; an invalid number of entries counts as 0. */
export function activityViewOf(search: string): ActivityView {
  const given = new URLSearchParams(search);
  const texts = Object.fromEntries(
    ACTIVITY_FILTERS.map((name) => [name, given.get(name) || undefined]),
  );
  const offset = Number(given.get("offset") ?? 0);
  return { ...texts, offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0 };
}
