/**
 * Who is signed in, in this tab: the token is in memory and in `sessionStorage`, and never in a
 * cookie or an address.
 */
import { keepTyped } from "./typed.ts";

/** A token and whose it is. */
export interface Session {
  readonly token: string;
  readonly email: string;
}

const SESSION = "signalbox.session";
const RETURN = "signalbox.return";
const ENDED = "signalbox.ended";
const SIGN_IN = "/portal/sign-in";
const LOGOUT_MS = 5_000;

let current: Session | undefined = stored();

function stored(): Session | undefined {
  try {
    const text = sessionStorage.getItem(SESSION);
    return text === null ? undefined : (JSON.parse(text) as Session);
  } catch {
    return undefined;
  }
}

/** The signed-in user; `undefined` without one. */
export function session(): Session | undefined {
  return current;
}

/** Keeps a session for as long as the tab is open. */
export function keepSession(fresh: Session): void {
  current = fresh;
  try {
    sessionStorage.setItem(SESSION, JSON.stringify(fresh));
  } catch {
    // Without storage the session lasts until the next page; there is nothing better to be had.
  }
}

/** Forgets who was signed in. */
export function endSession(): void {
  current = undefined;
  try {
    sessionStorage.removeItem(SESSION);
  } catch {
    // It was never kept.
  }
}

/**
 * Ends the session on the server, forgets everything that this tab keeps, and goes to a public page. A
 * server that does not answer in time does not hold that up; its token is then good until it expires.
 */
export async function signOut(isOpen: boolean): Promise<void> {
  const token = current?.token;
  current = undefined;
  try {
    sessionStorage.clear();
  } catch {
    // Nothing was kept.
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
    // The server cannot be reached; there is nothing left to be done here.
  }
}

/** Leaves for the sign-in page, which leads back here, where what was typed still stands. */
export function goToSignIn(): void {
  if (location.pathname === SIGN_IN) return;
  keepTyped();
  try {
    sessionStorage.setItem(RETURN, location.pathname + location.search + location.hash);
  } catch {
    // Then it leads to the overview.
  }
  location.assign(SIGN_IN);
}

/** Forgets a session that the service does not accept any more, and asks for a new one. */
export function signInAgain(): void {
  const isEnded = current !== undefined;
  endSession();
  try {
    if (isEnded) sessionStorage.setItem(ENDED, "true");
  } catch {
    // Then the sign-in page does not say why it is there.
  }
  goToSignIn();
}

/** Whether a session has ended since this was last asked. */
export function takeEnded(): boolean {
  try {
    const isEnded = sessionStorage.getItem(ENDED) !== null;
    sessionStorage.removeItem(ENDED);
    return isEnded;
  } catch {
    return false;
  }
}

/** Goes back to where one was before the sign-in page. */
export function goBack(): void {
  let target = "/";
  try {
    target = sessionStorage.getItem(RETURN) ?? "/";
    sessionStorage.removeItem(RETURN);
  } catch {
    // The overview it is.
  }
  location.replace(new URL(target, location.origin).pathname === SIGN_IN ? "/" : target);
}
