/**
 * The session of this tab: its token is kept in memory and in `sessionStorage`, never in a cookie or an
 * address.
 */
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

let current: UserSession | undefined = stored();

function stored(): UserSession | undefined {
  try {
    const text = sessionStorage.getItem(SESSION);
    return text === null ? undefined : (JSON.parse(text) as UserSession);
  } catch {
    return undefined;
  }
}

/** The session of the signed-in user; `undefined` without one. */
export function session(): UserSession | undefined {
  return current;
}

/** Keeps a session for as long as the tab is open. */
export function keepSession(fresh: UserSession): void {
  current = fresh;
  try {
    sessionStorage.setItem(SESSION, JSON.stringify(fresh));
  } catch {
    // Without storage the session lasts until the next page.
  }
}

/** Removes the session from this tab. */
export function endSession(): void {
  current = undefined;
  try {
    sessionStorage.removeItem(SESSION);
  } catch {
    // Without storage it was never kept.
  }
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
  try {
    sessionStorage.setItem(RETURN, location.pathname + location.search + location.hash);
  } catch {
    // Without storage the sign-in page leads to the overview.
  }
  location.assign(SIGN_IN);
}

/** Removes a session that the service rejected, and opens the sign-in page. */
export function signInAgain(): void {
  const isEnded = current !== undefined;
  endSession();
  try {
    if (isEnded) sessionStorage.setItem(ENDED, "true");
  } catch {
    // Without storage the sign-in page cannot say that the session has ended.
  }
  goToSignIn();
}

/** Whether a session has ended since the last call. */
export function takeEnded(): boolean {
  try {
    const isEnded = sessionStorage.getItem(ENDED) !== null;
    sessionStorage.removeItem(ENDED);
    return isEnded;
  } catch {
    return false;
  }
}

/** Returns to the page before the sign-in page. */
export function goBack(): void {
  let target = "/";
  try {
    target = sessionStorage.getItem(RETURN) ?? "/";
    sessionStorage.removeItem(RETURN);
  } catch {
    // Without storage it is the overview.
  }
  location.replace(new URL(target, location.origin).pathname === SIGN_IN ? "/" : target);
}
