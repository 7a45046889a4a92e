/**
 * The session of this tab: its token is kept in memory and in `sessionStorage`, never in a cookie or an
 * address.
 */
import { store, stored, takeStored } from "./storage.ts";
import { keepTyped } from "./typed.ts";

/** A token and the email of its user. */
export interface UserSession {
  readonly token: string;
  readonly email: string;
}

const SESSION = "signalbox.session";
const RETURN = "signalbox.return";
const ENDED = "signalbox.ended";
const SIGN_IN = "/portal/sign-in";
const LOGOUT_MS = 5_000;

const kept = stored(SESSION);
let current = kept === undefined ? undefined : (JSON.parse(kept) as UserSession);

/** The session of the signed-in user; `undefined` without one. */
export function session(): UserSession | undefined {
  return current;
}

/** Keeps a session for as long as the tab is open. */
export function keepSession(fresh: UserSession): void {
  current = fresh;
  store(SESSION, JSON.stringify(fresh));
}

/**
 * Ends the session on the server, clears the storage of this tab, and opens a public page. Waits for the
 * server for a few seconds only: without an answer the token stays valid until it expires.
 */
export async function signOut(isOpen: boolean): Promise<void> {
  const token = current?.token;
  current = undefined;
  try {
    sessionStorage.clear();
  } catch {
    // Without storage there is nothing to clear.
  }
  if (token !== undefined) await endToken(token);
  if (isOpen) location.reload();
  else location.assign(SIGN_IN);
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

/** Opens the sign-in page, which leads back to this page and to the text that was typed here. */
export function goToSignIn(): void {
  if (location.pathname === SIGN_IN) return;
  keepTyped();
  store(RETURN, location.pathname + location.search + location.hash);
  location.assign(SIGN_IN);
}

/** Removes a session that the service rejected, and opens the sign-in page. */
export function signInAgain(): void {
  if (current !== undefined) store(ENDED, "true");
  current = undefined;
  store(SESSION, undefined);
  goToSignIn();
}

/** Whether a session has ended since the last call. */
export function takeEnded(): boolean {
  return takeStored(ENDED) !== undefined;
}

/** Returns to the page before the sign-in page; without storage it is the overview. */
export function goBack(): void {
  const target = takeStored(RETURN) ?? "/";
  location.replace(new URL(target, location.origin).pathname === SIGN_IN ? "/" : target);
}
