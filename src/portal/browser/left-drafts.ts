/**
 * The drafts that users left at their sign-out, until the same user opens the editor again in this browser. The
 * storage of a tab is cleared at a sign-out, so they are in `localStorage`, under the email of their user.
 */
import { DRAFT_KEY } from "../editor-draft.ts";
import { browserStorage, fromJson, tabStorage } from "./storage.ts";

/** The most drafts of one user: several tabs can each have one. */
const MOST = 5;

/** Puts the draft of this tab aside for its user. The oldest drafts make room where the browser has no more. */
export function leaveDraft(email: string): void {
  const draft = tabStorage.get(DRAFT_KEY);
  if (draft === undefined) return;
  const left = [draft, ...leftBy(email)].slice(0, MOST);
  while (left.length > 0 && !browserStorage.set(keyOf(email), JSON.stringify(left))) left.pop();
}

/** Gives this tab the newest draft that its user left, if it has no draft; returns whether there was one. */
export function returnDraft(email: string): boolean {
  const [newest, ...others] = leftBy(email);
  if (newest === undefined || tabStorage.get(DRAFT_KEY) !== undefined) return false;
  tabStorage.set(DRAFT_KEY, newest);
  if (tabStorage.get(DRAFT_KEY) === undefined) return false; // the browser refuses: the draft waits for another tab
  browserStorage.set(keyOf(email), others.length === 0 ? undefined : JSON.stringify(others));
  return true;
}

function leftBy(email: string): readonly string[] {
  const found = fromJson<unknown>(browserStorage.get(keyOf(email)));
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
}

function keyOf(email: string): string {
  return `signalbox.drafts.${email}`;
}
