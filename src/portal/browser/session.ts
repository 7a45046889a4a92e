/**
 * The session of this browser: one sign-in for all tabs, kept in `localStorage`, never in a cookie or an
 * address. A change in one tab reaches the others by the `storage` event. An empty text there means that
 * the user signed out; a missing one that there was no session, or that the service rejected it.
 */
import { leaveDraft } from "./left-drafts.ts";
import { keptSession, SESSION, type UserSession } from "./kept-session.ts";
import { browserStorage, tabStorage } from "./storage.ts";
import { keepTyped } from "./typed.ts";

const RETURN = "signalbox.return";
const ENDED = "signalbox.ended";
/** The user to whom the storage of this tab belongs: a draft, typed texts, the page to return to. */
const OWNER = "signalbox.owner";
const SIGN_IN = "/portal/sign-in";
const LOGOUT_MS = 5_000;

let current = keptSession();
own();
/** Set by a sign-out: a request that fails afterwards must not keep anything of this page. */
let isLeaving = false;
/** Set while the sign-in page is being opened: each refused request asks for it, and would open it anew. */
let isGoing = false;
addEventListener("storage", ({ key }) => key === SESSION && followOtherTab());
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  isGoing = false;
  followOtherTab();
});

/** The session of the signed-in user; `undefined` without one. */
export function session(): UserSession | undefined {
  return current;
}

/** Keeps a session for all tabs, until the user signs out or the service rejects it. */
export function keepSession(fresh: UserSession): void {
  current = fresh;
  own();
  browserStorage.set(SESSION, JSON.stringify(fresh));
}

/** Makes the storage of this tab that of the signed-in user, who must not see what another one left in it. */
function own(): void {
  if (!current) return;
  const owner = tabStorage.get(OWNER);
  if (owner !== undefined && owner !== current.email) clear();
  tabStorage.set(OWNER, current.email);
}

/** Clears the storage of this tab, and puts the draft in it aside for its owner. */
function clear(): void {
  const owner = tabStorage.get(OWNER);
  if (owner !== undefined) leaveDraft(owner);
  tabStorage.clear();
}

/**
 * Ends the session on the server and in all tabs, clears the storage of this tab, and opens a public
 * page. Waits for the server for a few seconds only: without an answer the token stays valid until it
 * expires.
 */
export async function signOut(): Promise<void> {
  const token = current?.token;
  isLeaving = true;
  current = undefined;
  browserStorage.set(SESSION, "");
  clear(); // before the server answers, since the tab may be closed meanwhile
  if (token !== undefined) await endToken(token);
  leave();
}

async function endToken(token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(LOGOUT_MS);
  try {
    await fetch("/api/v1/auth/logout", { method: "POST", headers, signal, keepalive: true });
  } catch {
    // The server cannot be reached: the token expires by itself.
  }
}

/** Forgets what this tab kept, and opens a page that needs no session. */
function leave(): void {
  isLeaving = true;
  clear();
  if (document.body.dataset["open"] === "true") location.reload();
  else location.assign(SIGN_IN);
}

/** Takes over a session that another tab began or ended. */
function followOtherTab(): void {
  const before = current;
  current = keptSession();
  own();
  if (current && location.pathname === SIGN_IN) goBack();
  else if (before?.email === current?.email) return;
  else if (current) location.reload();
  else if (browserStorage.get(SESSION) === "") leave();
  else endHere();
}

/** Opens the sign-in page, which leads back to this page and to the text that was typed here. */
export function goToSignIn(): void {
  if (isLeaving || isGoing || location.pathname === SIGN_IN) return;
  isGoing = true;
  keepTyped();
  tabStorage.set(RETURN, location.pathname + location.search + location.hash);
  location.assign(SIGN_IN);
}

/** Ends the session whose token the service rejected, in all tabs, and opens the sign-in page. */
export function signInAgain(token: string | undefined): void {
  if (current === undefined) return goToSignIn();
  if (token !== current.token) return location.reload(); // another tab has signed in again
  current = undefined;
  browserStorage.set(SESSION, undefined);
  endHere();
}

function endHere(): void {
  tabStorage.set(ENDED, "true");
  goToSignIn();
}

/** Whether a session has ended since the last call. */
export function takeEnded(): boolean {
  return tabStorage.take(ENDED) !== undefined;
}

/** Returns to the page that the address names behind `#`, or that was left for the sign-in page; else to the overview. */
export function goBack(): void {
  const path = /^#(\/.*)/.exec(location.hash)?.[1] ?? tabStorage.take(RETURN) ?? "/";
  const target = new URL(location.origin + path); // no path leads to another origin
  location.replace(target.pathname === SIGN_IN ? "/" : target);
}
