/**
 * The views of the audit page that the reader named. They are kept in this browser alone, for each user apart: their
 * names and filters tell what is in the log of an organization.
 */
import { keptSession } from "./kept-session.ts";
import { browserStorage, fromJson } from "./storage.ts";

/** A named view. */
export interface SavedView {
  readonly name: string;
  /** The address of the view, as `viewHref` writes it. */
  readonly href: string;
}

/** The most views that are kept. */
const MOST_VIEWS = 50;
/** The most characters of a name. */
export const LONGEST_NAME = 60;

/** The place of the views of the signed-in user, or of readers who are not signed in. */
function place(): string {
  const user = keptSession()?.email;
  return user === undefined ? "signalbox.views" : `signalbox.views.${user}`;
}

/** The saved views by name. */
export function savedViews(): readonly SavedView[] {
  const found = fromJson<unknown>(browserStorage.get(place()));
  return Array.isArray(found) ? found.filter(isView).slice(0, MOST_VIEWS) : [];
}

/** Saves a view; one with the same name is replaced. Returns whether there was room for it. */
export function saveView(view: SavedView): boolean {
  const others = savedViews().filter(({ name }) => name !== view.name);
  if (others.length >= MOST_VIEWS) return false;
  const all = [...others, view].sort((a, b) => a.name.localeCompare(b.name));
  return browserStorage.set(place(), JSON.stringify(all));
}

/** Deletes the view with a name. */
export function deleteView(name: string): void {
  const others = savedViews().filter((view) => view.name !== name);
  browserStorage.set(place(), JSON.stringify(others));
}

/** Checks an entry of the storage, which could hold any text, such as the address of another site. */
function isView(value: unknown): value is SavedView {
  if (typeof value !== "object" || value === null) return false;
  const { name, href } = value as Partial<Record<keyof SavedView, unknown>>;
  return (
    typeof name === "string" && typeof href === "string" && /^\/portal\/audit(?:\?|$)/.test(href)
  );
}
