/** The session as it is kept in this browser. `session.ts` changes it; other modules ask here whose it is. */
import { browserStorage, fromJson } from "./storage.ts";

/** A token and the email of its user. */
export interface UserSession {
  readonly token: string;
  readonly email: string;
}

/** The place of the session. */
export const SESSION = "signalbox.session";

/** The kept session; `undefined` without one. */
export function keptSession(): UserSession | undefined {
  const found = fromJson<Partial<UserSession> | null>(browserStorage.get(SESSION));
  const { token, email } = found ?? {};
  return typeof token === "string" && typeof email === "string" ? { token, email } : undefined;
}
