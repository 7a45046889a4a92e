import { checkNewPassword, type Passwords } from "../auth/password.ts";
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { ConfigError } from "../core/config-error.ts";
import { Conflict } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { quoted } from "../core/setting-kinds.ts";
import { draftUser } from "./draft.ts";
import { isEmail } from "./email.ts";
import type { UserStore } from "./store.ts";

/** The services that `ensureFirstAdmin` needs. */
export interface FirstAdminServices {
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly now: Clock;
  readonly ids: IdSource;
}

/**
 * Creates the admin that the settings name, in the default organization. A user with that email, in
 * any organization and state, stays unchanged.
 *
 * @returns whether it was created
 * @throws ConfigError naming the setting whose value cannot be used
 */
export async function ensureFirstAdmin(
  { email, password }: { readonly email: string; readonly password: string },
  { users, passwords, now, ids }: FirstAdminServices,
): Promise<boolean> {
  if (!isEmail(email)) {
    const expected = "expected an email address";
    throw new ConfigError(`ADMIN_EMAIL: ${quoted(email)} is not understood, ${expected}`);
  }
  try {
    checkNewPassword(password, "ADMIN_PASSWORD");
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  if (await users.findByEmail(email)) return false;
  const hash = await passwords.hash(password);
  const admin = draftUser({ email, role: "admin" }, hash, ids(), now());
  try {
    await users.create(DEFAULT_ORGANIZATION, { ...admin, organization_id: DEFAULT_ORGANIZATION });
  } catch (error) {
    if (error instanceof Conflict) return false; // another server of the same database was faster
    throw error;
  }
  return true;
}
